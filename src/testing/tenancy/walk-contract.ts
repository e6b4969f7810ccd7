/** The contract of the walk: what tenants and the users beside them may try, on each resource of a hub. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allowedBy, isWalkedGroup, permissionRows } from './permission-table.ts'
import type { TenancyWorld } from './tenancy-world.ts'
import { discover, rowName, walk } from './walk.ts'
import type { WalkedResource } from './walk.ts'

/** Describes the walk of two tenants. A home that does not serve all dialects says which resources it has. */
export function walkContract(
  home: string,
  worldOf: () => TenancyWorld,
  isServed: (resource: string) => boolean = () => true,
): void {
  const served = (rows: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(rows).filter(([resource]) => isServed(resource)))

  describe(`the walk of two tenants over the kinds of discovery: ${home}`, () => {
    const found = async (): Promise<readonly WalkedResource[]> => await discover(worldOf(), isWalkedGroup)
    const walked = async (user: string, namespace: string) => await walk(worldOf(), await found(), { user, namespace })

    test('each kind has a row, and each row is a kind', async () => {
      const names = new Set((await found()).map(rowName))
      assert.deepEqual([...names].toSorted(), permissionRows().filter(isServed).toSorted())
    })

    test('a viewer and an editor have their table in their own namespace', async () => {
      assert.deepEqual(await walked('viewer-a', 'team-a'), served(allowedBy('view')))
      assert.deepEqual(await walked('editor-a', 'team-a'), served(allowedBy('edit')))
    })

    test('a viewer and an editor have nothing in the namespace of the other team, nor in those of the hub', async () => {
      for (const user of ['viewer-a', 'editor-a']) assert.deepEqual(await walked(user, 'team-b'), {})
      for (const user of ['viewer-b', 'editor-b']) assert.deepEqual(await walked(user, 'team-a'), {})
      for (const namespace of ['flotilla-system', 'default', 'argocd', 'store-1'])
        assert.deepEqual(await walked('editor-b', namespace), {})
    })

    test('a maker of tokens, an owner of a set and an operator have what their role names', async () => {
      for (const namespace of ['team-a', 'team-b']) {
        assert.deepEqual(await walked('tokens', namespace), { 'jointokens.flotilla.dev': 'c' })
        assert.deepEqual(await walked('owner', namespace), { 'clustersets.flotilla.dev': 'gu' })
        assert.deepEqual(await walked('operator', namespace), { 'clusters.flotilla.dev': 'glpu' })
      }
    })
  })
}
