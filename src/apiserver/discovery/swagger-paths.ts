import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { itemsAt, mapAt } from '../../kinds/builtin/read-path.ts'

/** Paths of OpenAPI v3 as Swagger has them: bodies are parameters, and each operation says what it takes and gives. */

const OPERATIONS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** The paths of documents in Swagger's form; `convert` rewrites schemas. */
export function swaggerPaths(documents: readonly object[], convert: (schema: unknown) => unknown): JsonObject {
  const paths: JsonObject = {}
  for (const document of documents) {
    for (const [path, item] of Object.entries(mapAt(document, 'paths'))) paths[path] = itemOf(item, convert)
  }
  return paths
}

function itemOf(item: unknown, convert: (schema: unknown) => unknown): JsonObject {
  const result: JsonObject = { parameters: itemsAt(item, 'parameters').map(parameterOf) }
  for (const name of OPERATIONS) {
    const operation = isObject(item) ? item[name] : undefined
    if (isObject(operation)) result[name] = operationOf(operation, convert)
  }
  return result
}

function operationOf(operation: JsonObject, convert: (schema: unknown) => unknown): JsonObject {
  const { requestBody, responses, parameters: _parameters, ...rest } = operation
  const taken = contentOf(requestBody)
  const body = taken.map(({ schema }) => ({ name: 'body', in: 'body', required: true, schema: convert(schema) }))
  const given = Object.entries(isObject(responses) ? responses : {}).map(([code, response]) => {
    const [first] = contentOf(response)
    const { content: _content, ...said } = isObject(response) ? response : {}
    return [code, { ...said, ...compact({ schema: first ? convert(first.schema) : undefined }) }] as const
  })
  return {
    ...rest,
    consumes: taken.length > 0 ? taken.map(({ type }) => type) : ['*/*'],
    produces: ['application/json', 'application/yaml', 'application/json;stream=watch'],
    parameters: [...body.slice(0, 1), ...itemsAt(operation, 'parameters').map(parameterOf)],
    responses: Object.fromEntries(given),
  }
}

function contentOf(value: unknown): { readonly type: string; readonly schema: unknown }[] {
  return Object.entries(mapAt(value, 'content')).map(([type, media]) => ({
    type,
    schema: isObject(media) ? media['schema'] : {},
  }))
}

function parameterOf({ schema, ...parameter }: JsonObject): JsonObject {
  return { ...parameter, ...(isObject(schema) ? schema : {}) }
}
