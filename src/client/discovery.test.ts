import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ApiError } from '../core/errors.ts'
import { createDiscovery } from './discovery.ts'
import type { Rest } from './rest.ts'

it('finds kinds, asks each group version once, and asks again for what was missing', async () => {
  const asked: string[] = []
  const resources = [
    { name: 'deployments', kind: 'Deployment', namespaced: true },
    { name: 'deployments/scale', kind: 'Scale', namespaced: true },
  ]
  const rest: Pick<Rest, 'json'> = {
    json: async ({ path }) => {
      asked.push(path)
      if (path === '/version') return { gitVersion: 'v1.36.2' }
      if (path === '/apis/apps/v1') return { resources }
      throw new ApiError('NotFound', 'the server could not find the requested resource')
    },
  }
  const discovery = createDiscovery(rest as Rest)
  assert.deepEqual(await discovery.typeOf('apps/v1', 'Deployment'), {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    plural: 'deployments',
    scope: 'Namespaced',
  })
  await discovery.typeOf('apps/v1', 'Deployment')
  assert.deepEqual(asked, ['/apis/apps/v1'])
  assert.equal(await discovery.typeOf('apps/v1', 'Scale'), undefined, 'a part of an object is no kind')
  assert.equal(await discovery.typeOf('late.dev/v1', 'Late'), undefined)
  resources.push({ name: 'late', kind: 'Late', namespaced: false })
  assert.equal((await discovery.typeOf('apps/v1', 'Late'))?.scope, 'Cluster', 'a CRD may arrive late')
  assert.equal(await discovery.version(), 'v1.36.2')
})

it('lists the groups with their preferred version, and the kinds of one, anew each time', async () => {
  const resources = [{ name: 'owners', kind: 'Owners', namespaced: false }]
  const groups = [
    { name: 'apps', versions: [{ groupVersion: 'apps/v1' }], preferredVersion: { groupVersion: 'apps/v1', version: 'v1' } },
    { name: 'odd' },
  ] // prettier-ignore
  const rest: Pick<Rest, 'json'> = {
    json: async ({ path }) => {
      if (path === '/apis') return { kind: 'APIGroupList', groups }
      if (path === '/apis/rules.dev/v1') return { resources }
      throw new ApiError('NotFound', 'the server could not find the requested resource')
    },
  }
  const discovery = createDiscovery(rest as Rest)
  assert.deepEqual([...(await discovery.groupVersions())], [['apps', 'apps/v1']])
  assert.deepEqual((await discovery.kindsOf('rules.dev/v1')).map(({ kind }) => kind), ['Owners']) // prettier-ignore
  resources.push({ name: 'labels', kind: 'Labels', namespaced: false })
  assert.deepEqual((await discovery.kindsOf('rules.dev/v1')).map(({ kind }) => kind), ['Owners', 'Labels']) // prettier-ignore
  assert.deepEqual(await discovery.kindsOf('gone.dev/v1'), [])
})
