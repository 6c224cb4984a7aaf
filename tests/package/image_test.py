"""The image for containers: made by scripts/image, unpacked, and its program run in it as its user, without a container's manager.

    MISHAP_PROGRAM=… python3 tests/package/image_test.py [PART-OF-A-NAME]

Needs buildah, and root for chroot. Speaks TAP.
"""
import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, parsed, test  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix="image-", dir="/var/tmp")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
ROOT = os.path.join(FOLDER, "root")
MOST_BYTES = 20 << 20
USER = 65532


def make_image(out):
    if not shutil.which("buildah"):
        raise Skipped("there is no buildah")
    done = subprocess.run([os.path.join(TREE, "scripts", "image")], env=dict(os.environ, OUT=out, SOURCE_DATE_EPOCH="1700000000"),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode and ("Operation not permitted" in text or "permission denied" in text):
        raise Skipped("buildah may not work here: " + text.strip().splitlines()[-1][:150])
    equal(done.returncode, 0, text)
    return text


image = {}


def made_image():
    """Made once: what it said, its configuration and its layers."""
    if not image:
        out = os.path.join(FOLDER, "out")
        image["said"] = make_image(out)
        with tarfile.open(os.path.join(out, "mishap.docker.tar")) as archive:
            manifest = json.load(archive.extractfile("manifest.json"))[0]
            image["config"] = json.load(archive.extractfile(manifest["Config"]))["config"]
            os.makedirs(ROOT)
            for layer in manifest["Layers"]:
                with tarfile.open(fileobj=archive.extractfile(layer)) as files:
                    image["members"] = files.getmembers()
                    files.extractall(ROOT, numeric_owner=True)
    return image


ENTER = """mkdir -p "$0/dev" "$0/proc"
mount --rbind /dev "$0/dev"
mount -t proc proc "$0/proc"
exec chroot --userspec=%d:%d --groups= "$0" /usr/bin/mishap "$@"
""" % (USER, USER)


def inside(*words):
    """Run the program in the image, as its user, with the environment of the image, and with /dev and /proc as containers have them."""
    config = made_image()["config"]
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("only root can chroot and mount")
    env = dict(item.split("=", 1) for item in config["Env"])
    return subprocess.Popen(["unshare", "-m", "sh", "-ec", ENTER, ROOT, *words], env=dict(env, PATH="/usr/sbin:/usr/bin:/sbin:/bin"), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


@test
def the_image_says_its_size_and_is_small():
    said = made_image()["said"]
    expect("the files of the image take" in said, said)
    size = sum(member.size for member in made_image()["members"])
    expect(size < MOST_BYTES, "the image has", size, "bytes")


@test
def the_configuration_names_a_user_a_port_and_a_health_check():
    config = made_image()["config"]
    equal(config["User"], "%d:%d" % (USER, USER))
    equal(config["Entrypoint"], ["/usr/bin/mishap"])
    equal(list(config["ExposedPorts"]), ["8080"] if "8080" in config["ExposedPorts"] else ["8080/tcp"])
    equal(config["Healthcheck"]["Test"], ["CMD", "/usr/bin/mishap", "health", "--port", "8080"])


@test
def nothing_in_it_can_gain_rights_or_be_changed():
    for member in made_image()["members"]:
        expect(not member.mode & 0o6000, member.name, "has", oct(member.mode))
        own = member.name.rstrip("/") in ("var/lib/mishap", "var/log/mishap", "tmp")
        expect(own or not member.mode & 0o022, member.name, "can be written:", oct(member.mode))
        equal(member.uid, USER if own and member.name.rstrip("/") != "tmp" else 0, member.name)


@test
def a_command_runs_in_it():
    out, err = inside("explain", "NOT_FOUND", "--output", "json").communicate(timeout=PATIENCE)
    equal(parsed(out)["ok"], True, err)


@test
def its_server_wants_a_key_which_a_command_adds():
    refused = inside(*made_image()["config"]["Cmd"], "--output", "json")
    out, err = refused.communicate(timeout=PATIENCE)
    equal((refused.returncode, parsed(out)["error"]["code"]), (78, "NOT_CONFIGURED"), err)
    out, err = inside("keys", "add", "--name", "ci", "--output", "json").communicate(timeout=PATIENCE)
    expect(parsed(out)["data"]["key"].startswith("mk_"), out, err)


@test
def the_server_runs_in_it_and_its_health_check_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    check = ["health", "--port", str(port), "--output", "json"]
    before = inside(*check)
    out, _ = before.communicate(timeout=PATIENCE)
    equal((before.returncode, parsed(out)["error"]["code"]), (12, "CONNECTION_REFUSED"), "before it runs")
    server = inside("serve", "--listen", "127.0.0.1:%d" % port, "--require-key", "--workers", "1")
    try:
        until, status = time.monotonic() + PATIENCE, None
        while status != 0 and time.monotonic() < until:
            expect(server.poll() is None, "the server has ended:", server.returncode, server.poll() is not None and server.communicate())
            asked = inside(*check)
            asked.communicate(timeout=PATIENCE)
            status = asked.returncode
            time.sleep(0.1)
        equal(status, 0, "the health check")
        expect(os.listdir(os.path.join(ROOT, "var/lib/mishap")), "the server has kept nothing")
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)
    equal(server.returncode, 0, "the end of the server")


@test
def two_images_of_the_same_program_are_equal():
    made_image()
    again = os.path.join(FOLDER, "again")
    make_image(again)
    layers = []
    for out in (os.path.join(FOLDER, "out"), again):
        with tarfile.open(os.path.join(out, "mishap.oci.tar")) as archive:
            index = json.load(archive.extractfile("index.json"))
            blob = index["manifests"][0]["digest"].replace(":", "/")
            layers.append([row["digest"] for row in json.load(archive.extractfile("blobs/" + blob))["layers"]])
    equal(layers[0], layers[1], "the layers")


main()
