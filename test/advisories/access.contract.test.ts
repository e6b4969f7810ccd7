/** Advisories about access, replayed against the API of a hub in memory, over all kinds that discovery lists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { collectionPath, objectPath, withQuery } from '../../src/client/resource-paths.ts'
import { linesOf } from '../../src/client/watch-stream.ts'
import type { Rest } from '../../src/client/rest.ts'
import { isApiError } from '../../src/core/errors.ts'
import { isObject } from '../../src/core/json.ts'
import { ensureNamespace } from '../../src/hub/home/hub-info.ts'
import { ConfigMap, Secret } from '../../src/kinds/builtin/core.ts'
import { ClusterRoleBinding, Role, RoleBinding } from '../../src/kinds/builtin/rbac.ts'
import { Source } from '../../src/kinds/native/source.ts'
import { build } from '../../src/testing/fixtures/builders.ts'
import { createCliHub } from '../../src/testing/hub/cli-hub.ts'

const RBAC = 'rbac.authorization.k8s.io'
const user = (name: string) => ({ kind: 'User', name, apiGroup: RBAC })
const NAMESPACES = ['a', 'a-b', 'b'] as const
const NAMES = ['x', 'x-y'] as const
const KINDS = [ConfigMap, Secret] as const

/** What a caller reads; undefined if the hub refuses. */
async function readAs<T>(reading: Promise<T>): Promise<T | undefined> {
  return await reading.catch((caught: unknown) => {
    if (isApiError(caught, 'Forbidden') || isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
}

/** The objects that a watch delivers at its beginning. */
async function watched(rest: Rest, path: string): Promise<unknown[]> {
  const ending = new AbortController()
  const query = { watch: true, timeoutSeconds: 1, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
  const whole = `${path}${path.includes('?') ? '&' : '?'}${withQuery('', { ...query, allowWatchBookmarks: true }).slice(1)}`
  const response = await readAs(rest.stream({ method: 'GET', path: whole }, ending.signal))
  const found: unknown[] = []
  if (!response) return found
  for await (const line of linesOf(response.body)) {
    const event: unknown = JSON.parse(line)
    if (!isObject(event) || event['type'] === 'BOOKMARK') break
    found.push(event['object'])
  }
  ending.abort()
  return found
}

test('CVE-2024-52280, CVE-2026-73499: whatever a list or watch delivers, the same user may get', async (t) => {
  const hub = createCliHub(t)
  for (const namespace of NAMESPACES) {
    await ensureNamespace(hub.client, namespace)
    for (const name of NAMES) {
      for (const kind of KINDS)
        await hub.client.create<never>(kind as never, build(kind, `${namespace}/${name}`, {}) as never)
    }
  }
  let people = 0
  const grant = fc.record({
    namespace: fc.constantFrom(...NAMESPACES),
    resources: fc.subarray(['configmaps', 'secrets'], { minLength: 1 }),
    resourceNames: fc.option(fc.subarray([...NAMES], { minLength: 1 }), { nil: undefined }),
  })
  const delivered = { list: 0, watch: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(grant, { minLength: 1, maxLength: 3 }), async (grants) => {
      people += 1
      const name = `person-${people}`
      for (const [i, { namespace, resources, resourceNames }] of grants.entries()) {
        const rule = {
          apiGroups: [''],
          resources,
          verbs: ['get', 'list', 'watch'],
          ...(resourceNames && { resourceNames }),
        }
        await hub.client.create(Role, build(Role, `${namespace}/${name}-${i}`, { rules: [rule] }))
        const roleRef = { apiGroup: RBAC, kind: 'Role', name: `${name}-${i}` }
        const binding = build(RoleBinding, `${namespace}/${name}-${i}`, { roleRef, subjects: [user(name)] })
        await hub.client.create(RoleBinding, binding)
      }
      const { rest } = hub.connectionOf(name)
      for (const kind of KINDS) {
        for (const namespace of [undefined, ...NAMESPACES]) {
          for (const only of [undefined, ...NAMES]) {
            const fieldSelector = only === undefined ? undefined : `metadata.name=${only}`
            const path = withQuery(collectionPath(kind, namespace), { fieldSelector })
            const list = await readAs(rest.json({ method: 'GET', path }))
            const items = isObject(list) && Array.isArray(list['items']) ? (list['items'] as unknown[]) : []
            const events = await watched(rest, path)
            delivered.list += items.length
            delivered.watch += events.length
            for (const object of [...items, ...events]) {
              const { metadata } = object as { metadata: { name: string; namespace: string } }
              const own = await readAs(rest.json({ method: 'GET', path: objectPath(kind, metadata) }))
              assert.ok(own, `${name} was sent ${kind.kind} ${metadata.namespace}/${metadata.name} by ${path}`)
            }
          }
        }
      }
    }),
    { numRuns: 12, seed: 20261118 },
  )
  assert.ok(delivered.list > 30 && delivered.watch > 30, JSON.stringify(delivered))
})

const CANARY = 'hunter2-canary-7f3a'
const FORMS = [
  CANARY,
  Buffer.from(CANARY).toString('base64'),
  Buffer.from(CANARY).toString('base64url'),
  Buffer.from(CANARY).toString('hex'),
  encodeURIComponent(CANARY),
  [...CANARY].toReversed().join(''),
]

test('CVE-2025-55190, CVE-2024-52282: a viewer of everything reads the password of a Source from no endpoint', async (t) => {
  const hub = createCliHub(t)
  await ensureNamespace(hub.client, 'shop')
  const stringData = { username: 'git', password: CANARY }
  await hub.client.create(Secret, build(Secret, 'shop/login', { stringData }))
  const spec = { git: { url: 'https://git.example/fleet' }, credentials: 'login' }
  await hub.client.create(Source, build(Source, 'shop/fleet', { spec }))
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' }
  await hub.client.create(ClusterRoleBinding, build(ClusterRoleBinding, 'vera', { roleRef, subjects: [user('vera')] }))
  const admin = await sweep(hub.connection.rest)
  assert.ok(admin.leaks.length > 0, 'an administrator reads it, so the sweep finds what is there')
  const viewer = await sweep(hub.connectionOf('vera').rest)
  assert.deepEqual(viewer.leaks, [])
  assert.ok(viewer.answered > 40, `${viewer.answered} endpoints answered the viewer`)
})

const ACCEPTS = ['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json']
const OTHER_PATHS = [
  '/metrics',
  '/healthz?verbose',
  '/readyz?verbose',
  '/livez',
  '/version',
  '/openapi/v3',
  '/api',
  '/apis',
  '/audit',
]

/** Asks each endpoint of discovery, and each object that it lists, in JSON and as a table. */
async function sweep(rest: Rest): Promise<{ readonly leaks: readonly string[]; readonly answered: number }> {
  const leaks: string[] = []
  let answered = 0
  const ask = async (path: string, accept = ACCEPTS[0]!): Promise<unknown> => {
    let answer: unknown
    try {
      answer = await rest.json({ method: 'GET', path, accept })
      answered += 1
    } catch (caught) {
      // The text of an error can leak, too.
      answer = { error: String(caught) }
    }
    const text = JSON.stringify(answer)
    if (FORMS.some((form) => text.includes(form))) leaks.push(`${path} (${accept})`)
    return answer
  }
  const groups = (await ask('/apis')) as { groups?: { versions: { groupVersion: string }[] }[] }
  const versions = (groups.groups ?? []).flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))
  for (const root of ['/api/v1', ...versions.map((version) => `/apis/${version}`)]) {
    const listed = (await ask(root)) as { resources?: { name: string; verbs: string[] }[] }
    for (const { name, verbs } of listed.resources ?? []) {
      if (name.includes('/') || !verbs.includes('list')) continue
      for (const accept of ACCEPTS) {
        const list = (await ask(`${root}/${name}`, accept)) as {
          items?: { metadata: { namespace?: string; name: string } }[]
        }
        for (const { metadata } of (list.items ?? []).slice(0, 20)) {
          const where = metadata.namespace === undefined ? '' : `namespaces/${metadata.namespace}/`
          const path = `${root}/${where}${name}/${encodeURIComponent(metadata.name)}`
          for (const each of ['', '/status']) await ask(`${path}${each}`, accept)
        }
      }
    }
  }
  for (const path of OTHER_PATHS) await ask(path)
  return { leaks, answered }
}
