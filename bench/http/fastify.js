// Seed 003's complete example on Fastify:
//
//     node fastify.js PORT          as it comes: the schema on the route, the answer in the error handler
//     node fastify.js PORT tuned    as fast as its means allow: ajv called by the handler, no Error made, no
//                                   coercion, and the answer written by a serializer compiled in advance
'use strict'

const [port, kind] = process.argv.slice(2)
const logger = false

const user = {
  type: 'object',
  required: ['name', 'email'],
  properties: {
    name: { type: 'string', minLength: 1 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    email: { type: 'string', pattern: '.*@.*\\..*' }
  }
}

// One finding of ajv as seed 003 spells it.
function finding (error, body) {
  switch (error.keyword) {
    case 'required':
      return { field: error.params.missingProperty, error: 'field_required' }
    case 'minLength':
      return { field: error.instancePath.slice(1), error: 'field_required' }
    case 'minimum':
    case 'maximum': {
      const field = error.instancePath.slice(1)
      const { minimum: min, maximum: max } = user.properties[field]
      return { field, error: 'value_out_of_range', min, max, actual: body[field] }
    }
    case 'pattern':
      return { field: error.instancePath.slice(1), error: 'pattern_mismatch', expected: error.params.pattern }
    default: {
      const field = error.instancePath.slice(1)
      return { field, error: 'invalid_type', expected: error.params.type, actual: typeof body[field] }
    }
  }
}

function refusal (errors, body) {
  const details = new Array(errors.length)
  for (let i = 0; i < errors.length; i++) details[i] = finding(errors[i], body)
  return { error: 'validation_error', message: 'Validation failed', details }
}

function asItComes () {
  const app = require('fastify')({ logger, ajv: { customOptions: { allErrors: true } } })
  app.setErrorHandler((error, request, reply) => {
    if (error.validation) return reply.code(422).send(refusal(error.validation, request.body))
    reply.code(error.statusCode || 500).send({ error: 'bad_request', message: 'Bad request' })
  })
  app.post('/users', { schema: { body: user } }, (request, reply) => reply.code(201).send(request.body))
  return app
}

function tuned () {
  const Ajv = require('ajv')
  const valid = new Ajv({ allErrors: true }).compile(user)
  const answer = {
    type: 'object',
    properties: {
      error: { type: 'string' },
      message: { type: 'string' },
      details: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            field: { type: 'string' },
            error: { type: 'string' },
            min: { type: 'integer' },
            max: { type: 'integer' },
            actual: {},
            expected: { type: 'string' }
          }
        }
      }
    }
  }
  const app = require('fastify')({ logger, onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' })
  app.post('/users', { schema: { response: { 422: answer } } }, (request, reply) => {
    if (!valid(request.body)) return reply.code(422).send(refusal(valid.errors, request.body))
    reply.code(201).send(request.body)
  })
  return app
}

const app = kind === 'tuned' ? tuned() : asItComes()
app.listen({ port: Number(port), host: '127.0.0.1' }).then(
  () => console.error(`listening on http://127.0.0.1:${port}`),
  error => { console.error(String(error)); process.exit(1) })
