"""The APIs of Docker and Kubernetes, as far as their command-line programs need them to fail as before a real server.

The name of an object says what happens to it: `missing` is not there, `secret` is not allowed, `limited` meets a limit, and so on. The
programs are real; these servers are ours. Their texts were written after those of the real servers and are no recordings of them.
"""
import json

from servers import Answers

KUBE = {  # name: status, reason, message
    "secret": (403, "Forbidden", '{kind} "{name}" is forbidden: User "user" cannot {verb} resource "{kind}" in API group "" in the namespace "default"'),
    "limited": (429, "TooManyRequests", "Too many requests, please try again later."),
    "denied": (401, "Unauthorized", "Unauthorized"),
    "twice": (409, "AlreadyExists", '{kind} "{name}" already exists'),
    "changed": (409, "Conflict", 'Operation cannot be fulfilled on {kind} "{name}": the object has been modified; please apply your changes to the latest version and try again'),
    "wrong": (422, "Invalid", 'Pod "{name}" is invalid: spec.containers[0].image: Required value'),
    "broken": (500, "InternalError", "Internal error occurred: failed calling webhook"),
    "busy": (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
    "late": (504, "Timeout", "Timeout: request did not complete within requested timeout - context deadline exceeded"),
    "quota": (403, "Forbidden", 'pods "{name}" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10'),
    "webhook": (400, "BadRequest", 'admission webhook "policy.example" denied the request: no label'),
    "gone": (410, "Expired", "The provided continue parameter is too old"),
}
VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Kubernetes(Answers):
    def resources(self, group, names):
        kinds = {"pods": "Pod", "secrets": "Secret", "namespaces": "Namespace", "configmaps": "ConfigMap", "services": "Service", "deployments":
                 "Deployment", "nodes": "Node"}
        self.say(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": [
            {"name": name, "singularName": kinds[name].lower(), "namespaced": name not in ("namespaces", "nodes"), "kind": kinds[name],
             "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"]} for name in names]})

    def answer(self):
        self.body = self.read_body()
        path = self.path.split("?")[0].rstrip("/")
        if path == "/version":
            self.say(200, {"major": "1", "minor": "30", "gitVersion": "v1.30.0"})
        elif path == "/api":
            self.say(200, {"kind": "APIVersions", "versions": ["v1"]})
        elif path == "/apis":
            version = {"groupVersion": "apps/v1", "version": "v1"}
            self.say(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": "apps", "versions": [version], "preferredVersion": version}]})
        elif path == "/api/v1":
            self.resources("v1", ["pods", "secrets", "namespaces", "configmaps", "services", "nodes"])
        elif path == "/apis/apps/v1":
            self.resources("apps/v1", ["deployments"])
        elif path.startswith("/openapi"):
            self.say(404, "404 page not found", "text/plain")
        else:
            self.tell_object(path)

    def tell_object(self, path):
        parts = path.strip("/").split("/")
        try:
            sent = json.loads(self.body)["metadata"]["name"] if self.command == "POST" else None
        except (ValueError, KeyError, TypeError):
            sent = None
        name = sent or parts[-1]
        kind = parts[-1] if sent else parts[-2] if len(parts) > 1 else parts[-1]
        if parts[-1] == "log":
            name, kind = parts[-2], parts[-3]
        if "namespaces/gone-space" in path:
            status, reason, message = 404, "NotFound", 'namespaces "gone-space" not found'
        else:
            status, reason, message = KUBE.get(name, (404, "NotFound", '{kind} "{name}" not found'))
        if self.command == "GET" and name in ("pods", "nodes") and len(parts) > 1:
            status, reason, message = 403, "Forbidden", '{name} is forbidden: User "user" cannot list resource "{name}"'
        if name in ("twice", "changed", "wrong", "webhook", "quota") and self.command == "GET":
            if name == "changed":
                self.say(200, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default", "resourceVersion": "1"}})
                return
            status, reason, message = 404, "NotFound", '{kind} "{name}" not found'
        text = message.format(kind=kind, name=name, verb=VERBS.get(self.command, "get"))
        fields = {"Retry_After": "1"} if status == 429 else {}
        self.say(status, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": text, "reason": reason,
                          "details": {"name": name, "kind": kind}, "code": status}, **fields)


DOCKER = (  # a word in the path or body, the status, the message
    ("limited", 500, "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading"),
    ("secret", 404, "pull access denied for secret, repository does not exist or may require 'docker login': denied: requested access to the resource is denied"),
    ("missing-tag", 404, "manifest for group/app:missing-tag not found: manifest unknown: manifest unknown"),
    ("denied", 401, "unauthorized: authentication required"),
    ("unreachable", 500, "Get \"https://registry.example/v2/\": dial tcp: lookup registry.example: no such host"),
    ("refusing", 500, "Get \"http://127.0.0.1:9/v2/\": dial tcp 127.0.0.1:9: connect: connection refused"),
    ("full", 500, "write /var/lib/docker/tmp/GetImageBlob1: no space left on device"),
    ("late", 500, "Get \"https://registry.example/v2/\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)"),
)


class Docker(Answers):
    def answer(self):
        self.body = self.read_body()
        path = self.path.split("?")[0]
        if path.endswith("/_ping"):
            self.say(200, "OK", "text/plain", Api_Version="1.41", Ostype="linux", Docker_Experimental="false")
            return
        if path.endswith("/version"):
            self.say(200, {"Version": "28.0.0", "ApiVersion": "1.41", "Os": "linux", "Arch": "amd64"})
            return
        parts = path.strip("/").split("/")[1:]
        self.tell(parts, self.path + self.body.decode("utf-8", "replace"))

    def tell(self, parts, text):
        kind, name = parts[0], parts[1] if len(parts) > 1 else ""
        if kind == "containers" and name == "create":
            if "name=web" in text:
                self.fail(409, 'Conflict. The container name "/web" is already in use by container "%s". You have to remove (or rename) that '
                          'container to be able to reuse that name.' % ("0123456789abcdef" * 4))
            elif '"Type":"bind"' in text:
                self.fail(400, 'invalid mount config for type "bind": bind source path does not exist: /data')
            elif "nocommand" in text:
                self.say(201, {"Id": "nocommand", "Warnings": []})
            elif "ready" in text:
                self.say(201, {"Id": "0123456789abcdef" * 4, "Warnings": []})
            else:
                self.fail(404, "No such image: %s" % self.image())
        elif kind == "images" and name == "create":
            for word, status, message in DOCKER:
                if word in text:
                    self.fail(status, message)
                    return
            self.fail(404, "manifest for app:latest not found: manifest unknown: manifest unknown")
        elif kind == "containers" and name == "nocommand" and parts[2] == "wait":
            self.say(200, {"StatusCode": 127})
        elif kind == "containers" and name == "nocommand" and parts[2] == "start":
            self.fail(400, 'failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to '
                      'start container process: error during container init: exec: "deployer": executable file not found in $PATH: unknown')
        elif kind == "containers" and len(parts) > 2 and parts[2] == "start" and name != "web1":
            self.fail(500, "driver failed programming external connectivity on endpoint ready: Bind for 0.0.0.0:8080 failed: port is already allocated")
        elif kind == "containers" and name == "running":
            self.fail(409, "cannot remove container \"running\": container is running: stop the container before removing or force remove")
        elif kind == "containers" and name == "stopped":
            self.fail(409, "container %s is not running" % ("0123456789abcdef" * 4))
        elif kind == "containers" and name == "paused":
            self.fail(409, "Container %s is paused, unpause the container before exec" % ("0123456789abcdef" * 4))
        elif kind == "containers":
            self.fail(404, "No such container: " + name)
        elif kind == "images" and name == "used":
            self.fail(409, "conflict: unable to remove repository reference \"used\" (must force) - container 0123456789ab is using its referenced image fedcba987654")
        elif kind == "images":
            self.fail(404, "No such image: %s:latest" % name)
        elif kind == "volumes":
            self.fail(409 if name == "busy" else 404, "remove busy: volume is in use - [0123456789ab]" if name == "busy"
                      else "get %s: no such volume" % name)
        elif kind == "networks":
            self.fail(409 if "twice" in text else 404, "network with name twice already exists" if "twice" in text else "network %s not found" % name)
        elif kind == "auth":
            self.fail(401, 'Get "https://registry.example/v2/": unauthorized: incorrect username or password')
        elif kind == "swarm" or kind in ("nodes", "services"):
            self.fail(503, "This node is not a swarm manager. Use \"docker swarm init\" or \"docker swarm join\" to connect this node to swarm and try again.")
        else:
            self.fail(404, "page not found")

    def image(self):
        try:
            image = json.loads(self.body)["Image"]
            return image if ":" in image else image + ":latest"
        except (ValueError, KeyError):
            return "app:latest"

    def fail(self, status, message):
        self.say(status, {"message": message})
