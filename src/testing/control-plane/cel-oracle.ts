// What a real kube-apiserver makes of CEL expressions: each becomes a validation of a policy that only warns.
import assert from 'node:assert/strict'
import { readBody } from '../../core/http.ts'
import type { Transport } from '../../core/http.ts'

/** What the server said of one expression. */
export type OracleAnswer =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'issue'; readonly text: string }

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'
// More warnings than this are cut short by the server.
const BATCH = 10

/** What `object` is in the expressions asked about. */
export const ORACLE_OBJECT = {
  name: 'web',
  replicas: 3,
  ratio: 1.5,
  tags: ['a', 'b'],
  labels: { app: 'web', 'a.b/c': 'x' },
  nothing: null,
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
}

// The same as an expression; every value dyn, as an object without a schema has them.
function literal(value: unknown): string {
  if (Array.isArray(value)) return `dyn([${value.map(literal).join(', ')}])`
  if (typeof value === 'object' && value !== null) {
    return `dyn({${Object.entries(value)
      .map(([key, item]) => `'${key}': ${literal(item)}`)
      .join(', ')}})`
  }
  return `dyn(${typeof value === 'string' ? `'${value}'` : String(value)})`
}

const ofObject = (source: string): string => source.replace(/\bobject\b/g, 'variables.o')

/** Asks about each expression; values come as `%s` prints them. */
export async function askKubernetes(transport: Transport, sources: readonly string[]): Promise<OracleAnswer[]> {
  const answers: OracleAnswer[] = []
  for (let start = 0; start < sources.length; start += BATCH) {
    answers.push(...(await askBatch(transport, sources.slice(start, start + BATCH))))
  }
  return answers
}

/** The expression the policy evaluates for one source: never true, so that it always says something. */
export function wrapped(source: string): string {
  return `'%s'.format([${ofObject(source)}]) == 'never so'`
}

async function askBatch(transport: Transport, sources: readonly string[]): Promise<OracleAnswer[]> {
  const answers = new Map<number, OracleAnswer>()
  const refused = await create(transport, sources, new Set())
  for (const [index, text] of refused) answers.set(index, { kind: 'issue', text })
  if (refused.size === sources.length) return sources.map((_, index) => answers.get(index)!)
  if (refused.size > 0) assert.equal((await create(transport, sources, new Set(refused.keys()))).size, 0)
  const live = sources.map((_, index) => index).filter((index) => !refused.has(index))
  const deadline = performance.now() + 30_000
  while (live.some((index) => !answers.has(index))) {
    assert.ok(performance.now() < deadline, `no answer about ${sources[live.find((index) => !answers.has(index))!]}`)
    for (const warning of await probe(transport)) {
      const failed = /: expression '\[(\d+)\]\.size\(\)[^]*' resulted in error: ([^]*)$/.exec(warning)
      const value = /: #(\d+)(?: ([^]*))?$/.exec(warning)
      if (failed) answers.set(Number(failed[1]), { kind: 'error', text: failed[2]! })
      else if (value) answers.set(Number(value[1]), { kind: 'value', text: value[2] ?? '' })
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  await send(transport, 'DELETE', `${BINDINGS}/cel-oracle`)
  await send(transport, 'DELETE', `${POLICIES}/cel-oracle`)
  // The next batch's policy must not be mistaken for this one.
  while ((await probe(transport)).length > 0) await new Promise((resolve) => setTimeout(resolve, 200))
  return sources.map((_, index) => answers.get(index)!)
}

async function create(transport: Transport, sources: readonly string[], without: ReadonlySet<number>) {
  const validations = sources.flatMap((source, index) =>
    without.has(index)
      ? []
      : [
          {
            expression: `[${index}].size() == 1 && ${wrapped(source)}`,
            messageExpression: `'#${index} ' + '%s'.format([${ofObject(source)}])`,
          },
        ],
  )
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'cel-oracle' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      variables: [{ name: 'o', expression: literal(ORACLE_OBJECT) }],
      validations,
    },
  }
  const reply = await send(transport, 'POST', POLICIES, policy)
  if (reply.status === 422) return refusals(reply.text, sources, without)
  assert.equal(reply.status, 201, reply.text)
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'cel-oracle' },
    spec: { policyName: 'cel-oracle', validationActions: ['Warn'] },
  }
  assert.equal((await send(transport, 'POST', BINDINGS, binding)).status, 201)
  return new Map<number, string>()
}

function refusals(text: string, sources: readonly string[], without: ReadonlySet<number>): Map<number, string> {
  const order = sources.map((_, index) => index).filter((index) => !without.has(index))
  const status = JSON.parse(text) as { details?: { causes?: { field: string; message: string }[] } }
  const found = new Map<number, string>()
  for (const { field, message } of status.details?.causes ?? []) {
    const index = /^spec\.validations\[(\d+)\]\.expression$/.exec(field)
    if (index) found.set(order[Number(index[1])]!, message)
  }
  assert.ok(found.size > 0, text)
  return found
}

async function probe(transport: Transport): Promise<string[]> {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { generateName: 'probe-' },
    data: { name: 'web', n: '3' },
  }
  const reply = await send(transport, 'POST', '/api/v1/namespaces/default/configmaps?dryRun=All', object)
  assert.equal(reply.status, 201, reply.text)
  return reply.warnings
}

async function send(transport: Transport, method: string, path: string, body?: unknown) {
  const request = {
    method,
    path,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    ...(body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) }),
  }
  const reply = await transport(request, AbortSignal.timeout(30_000))
  const header = reply.headers['warning'] ?? ''
  const warnings = [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((match) =>
    utf8(match[1]!.replace(/\\(.)/g, '$1')),
  )
  const text = new TextDecoder().decode(await readBody(reply.body, 10_000_000))
  return { status: reply.status, text, warnings }
}

// Headers come as Latin-1.
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8')
}
