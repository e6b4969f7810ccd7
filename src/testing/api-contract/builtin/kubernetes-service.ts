/** The Service `kubernetes` and where it leads to, deleted and edited: what comes back, and what stays. */
import assert from 'node:assert/strict'
import type { Rest } from '../../../client/rest.ts'
import type { Loose } from '../harness.ts'

/** A cluster's API, and its time. */
export interface KeptHome {
  readonly rest: Rest
  /** Lets so much time pass that a kube-apiserver has looked. */
  pass(): Promise<void>
}

const SERVICE = '/api/v1/namespaces/default/services/kubernetes'
const ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes'
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
const ALL = [SERVICE, ENDPOINTS, SLICE]

/** What an object says, without what is another in each of its lives. */
function contentOf({ metadata, ...content }: Loose): object {
  return { ...content, labels: metadata.labels }
}

/** Deletes them, edits them, and looks. */
export async function keepsApiService({ rest, pass }: KeptHome): Promise<void> {
  const read = async (path: string) => (await rest.json({ method: 'GET', path })) as Loose
  const readAll = async () => await Promise.all(ALL.map(read))
  // A new one may still be about to make them.
  await pass()
  const before = await readAll()
  // The Service last, for its Endpoints may go with it.
  for (const path of ALL.toReversed()) await rest.json({ method: 'DELETE', path })
  await pass()
  const after = await readAll()
  assert.deepEqual(after.map(contentOf), before.map(contentOf), 'what was deleted is back')
  after.forEach((object, index) => assert.notEqual(object.metadata.uid, before[index]!.metadata.uid))

  const edit = async (path: string, change: (object: Loose) => void): Promise<void> => {
    const object = await read(path)
    change(object)
    await rest.json({ method: 'PUT', path, body: object })
  }
  await edit(SERVICE, ({ metadata, spec }) => {
    metadata.labels.mine = 'yes'
    spec.ports[0].name = 'tls'
  })
  await edit(ENDPOINTS, ({ metadata, subsets }) => {
    metadata.labels = { mine: 'yes' }
    subsets[0].addresses[0].ip = '10.1.2.3'
    subsets[0].ports[0].name = 'tls'
  })
  await edit(SLICE, ({ metadata, endpoints }) => {
    metadata.labels.mine = 'yes'
    endpoints[0].addresses = ['10.1.2.3']
  })
  await pass()
  const [service, endpoints, slice] = await readAll()
  assert.deepEqual([service.metadata.labels.mine, service.spec.ports[0].name], ['yes', 'tls'])
  const addresses = before[1].subsets[0].addresses
  const ports = [{ ...before[1].subsets[0].ports[0], name: 'tls' }]
  assert.deepEqual(endpoints.metadata.labels, { ...before[1].metadata.labels, mine: 'yes' })
  assert.deepEqual(endpoints.subsets, [{ addresses, ports }], 'addresses are put right, ports stay')
  assert.deepEqual(contentOf(slice), { ...contentOf(before[2]), ports }, 'the slice says what its Endpoints say')

  const versions = async () => (await readAll()).map(({ metadata }) => metadata.resourceVersion)
  const known = await versions()
  await pass()
  assert.deepEqual(await versions(), known, 'what is right is not written again')
}
