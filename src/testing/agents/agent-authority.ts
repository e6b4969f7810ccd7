/**
 * What each caller may do at a gateway, found by sending every request as every caller. Compared with
 * `gateway/agent-authority.txt` on both homes.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utf8 } from '../../core/bytes.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import { parseObjectSet, TERMINAL_FEATURE } from '../../wire/document/signed-document.ts'
import { buildCluster } from '../fixtures/builders.ts'
import { configMap, objectDigest, secretObject } from '../hub/test-hub.ts'
import type { TestHub } from '../hub/test-hub.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const AT = '2026-01-01T00:00:00Z'
const REFUSED = { verdict: 'Revoked', at: AT } as const

/** Who asks: the id its certificate proves, and what its Cluster says. */
const CALLERS: Readonly<Record<string, { readonly id?: string; readonly spec?: Partial<Cluster['spec']> }>> = {
  none: {},
  pending: { id: 'pending', spec: { accepted: false } },
  revoked: { id: 'revoked', spec: { accepted: true, refused: REFUSED } },
  left: { id: 'left', spec: { accepted: false, refused: REFUSED, decommission: { policy: 'Remove', at: AT } } },
  agent: { id: 'me', spec: { accepted: true } },
}
const OTHERS = '401 403 403 403 404'

/** What the golden file says. */
export function goldenAuthority(): string {
  const file = readFileSync(join(import.meta.dirname, '../../gateway/agent-authority.txt'), 'utf8')
  return file.replaceAll(/^#.*\n/gm, '')
}

/** The truth, in the same form: what all are answered alike is in one line at the end. */
export async function authorityTable(hub: TestHub): Promise<string> {
  const paths = await furnish(hub)
  const line = (label: string, statuses: readonly string[]) =>
    `${label.padEnd(52)}${statuses.map((status) => status.padEnd(9)).join('')}`.trimEnd()
  const lines = [line('method and path', Object.keys(CALLERS))]
  for (const [label, path] of Object.entries(paths)) {
    for (const method of METHODS) {
      const statuses: string[] = []
      for (const { id } of Object.values(CALLERS)) statuses.push(await statusOf(hub, `${method} ${path}`, id))
      if (statuses.join(' ') !== OTHERS) lines.push(line(`${method} ${label}`, statuses))
    }
  }
  return `${[...lines, line('everything else', OTHERS.split(' '))].join('\n')}\n`
}

/** Clusters of every kind, each with a document, content and sealed values; and the paths to ask for. */
async function furnish(hub: TestHub): Promise<Record<string, string>> {
  const own = configMap('own')
  const theirs = configMap('theirs')
  const clusters = [...Object.values(CALLERS), { id: 'other', spec: { accepted: true } }]
  for (const { id, spec } of clusters) {
    if (id === undefined) continue
    await hub.client.create(Cluster, buildCluster(id, { spec: { id, ...spec } }))
    const objects = [id === 'other' ? theirs : own, secretObject('password', { text: 'hunter2' })]
    const last = { terminal: { at: AT }, requires: ['sets/v1', TERMINAL_FEATURE] }
    await hub.assign(id, { 'default/x': { generation: 1, objects } }, id === 'left' ? last : {})
  }
  const isKnown = async () => {
    const asked = ['me', 'other', 'left', 'pending', 'revoked']
    const found = await Promise.all(asked.map((id) => statusOf(hub, `GET ${ROUTES.document}`, id)))
    return found.join() === '200,200,200,403,403'
  }
  await hub.clock.runUntil(isKnown, { withinMs: 60_000, what: 'the gateway knows all clusters' })

  const entryOf = async (name: string) => (await hub.client.get(Assignment, { name })).spec.entries[0]!
  const [mine, others] = [await entryOf('me'), await entryOf('other')]
  const { values } = parseObjectSet((await hub.blobs.get(mine.set))!)
  const { document } = (await hub.client.get(Assignment, { name: 'other' })).spec
  const plain = [ROUTES.trust, ROUTES.enrol, ROUTES.renew, ROUTES.last, ROUTES.follow, ROUTES.document]
  const strange = [
    '/',
    '/agent/v1/',
    '/agent/v1/document/',
    '/agent/v1/../v1/document',
    '/api/v1/secrets',
    '/apis/flotilla.dev/v1alpha1/clusters',
  ]
  const same = (list: readonly string[]) => Object.fromEntries(list.map((path) => [path, path]))
  const paths: Record<string, string> = {
    ...same(plain),
    [`${ROUTES.blob}{own}`]: `${ROUTES.blob}${objectDigest(own)}`,
    [`${ROUTES.blob}{another's}`]: `${ROUTES.blob}${objectDigest(theirs)}`,
    [`${ROUTES.blob}{another's document}`]: `${ROUTES.blob}${document}`,
    [`${ROUTES.blob}{own sealed values}`]: `${ROUTES.blob}${mine.sealed!.values}`,
    [`${ROUTES.blob}{another's sealed values}`]: `${ROUTES.blob}${others.sealed!.values}`,
    [`${ROUTES.blob}{values as the hub keeps them}`]: `${ROUTES.blob}${values}`,
    [`${ROUTES.set}{own}`]: `${ROUTES.set}${mine.set}`,
    [`${ROUTES.set}{another's}`]: `${ROUTES.set}${others.set}`,
    ...same([ROUTES.report, ROUTES.checkIn, ROUTES.held]),
    [`${ROUTES.agentBundle}{unknown}`]: `${ROUTES.agentBundle}${objectDigest(theirs)}`,
    ...same(strange),
  }
  // Every route of the wire is here: a new one has to be decided about.
  for (const route of Object.values(ROUTES)) {
    assert.ok(
      Object.values(paths).some((path) => path.startsWith(route)),
      route,
    )
  }
  return paths
}

/** The status of an answer; a stream is not read. Bodies that would be taken are sent: only authority decides. */
async function statusOf(hub: TestHub, at: string, id: string | undefined): Promise<string> {
  const [method = '', path = ''] = at.split(' ')
  const report = { epoch: 1, revision: 1, agentVersion: '0.1.0', bundles: [] }
  const checkIn = { report: objectDigest(configMap('x')) }
  const body = utf8(JSON.stringify(path === ROUTES.report ? report : checkIn))
  const certificate = id === undefined ? {} : { certificate: hub.certificateFor(id) }
  const { transport, close } = hub.connect({ endpoint: 'x', cas: [], privateKey: '', ...certificate })
  const answer = await transport({ method, path, headers: {}, body }, new AbortController().signal)
  await close()
  assert.notEqual(answer.status, 500, at)
  return String(answer.status)
}
