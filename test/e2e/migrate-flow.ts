/** The upgrade of a hub of 0.1, which had no Projects, with the hub as a process; the same on both homes. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigMap } from '../../src/kinds/builtin/core.ts'
import { Project } from '../../src/kinds/native/project.ts'
import { clientByKubeconfig } from '../../src/testing/control-plane/kubeconfig-client.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup, FlotillaProcess } from './flotilla-process.ts'

/** Namespace `shop` has a Bundle and a Placement, `pos` a Placement; `fleet-default` has objects of Fleet's dialect. */
const CONTENT = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: pos}
---
apiVersion: v1
kind: Namespace
metadata: {name: empty}
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores, namespace: shop}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores, namespace: pos}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores, namespace: fleet-default}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: note, namespace: shop}
spec:
  placement: stores
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: note, namespace: default}
`

/** Starts a hub, takes away what 0.1 did not have, and upgrades it. */
export async function migrateFlow(t: Cleanup, home: readonly string[]): Promise<void> {
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const start = async (): Promise<{ readonly hub: FlotillaProcess; readonly kubeconfig: string }> => {
    const hub = startFlotilla(t, ['hub', 'run', '--data', data, '--dialects', 'fleet', ...home, ...FREE])
    const [, kubeconfig = ''] = await hub.says(/^flotilla hub ready: .* kubeconfig (\S+)\n/)
    return { hub, kubeconfig }
  }
  const first = await start()
  const file = join(folder, 'content.yaml')
  writeFileSync(file, CONTENT)
  const { client, close } = await clientByKubeconfig(first.kubeconfig)
  const names = async () => (await client.list(Project)).items.map(({ metadata }) => metadata.name).toSorted()
  assert.deepEqual(await names(), ['default', 'fleet-default', 'fleet-local'])
  const applied = await runFlotilla(t, ['apply', '-f', file, '--kubeconfig', first.kubeconfig])
  assert.equal(applied.code, 0, applied.stderr)
  const ready = async (kubeconfig: string) => {
    const path = ['-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}', '--kubeconfig', kubeconfig]
    return (await runFlotilla(t, ['get', 'placements.flotilla.dev', 'stores', '-n', 'shop', ...path])).stdout
  }
  await eventually('no Project', async () => ((await ready(first.kubeconfig)) === 'NoProject' ? true : undefined))
  for (const name of await names()) await client.delete(Project, { name })
  await client.delete(ConfigMap, { namespace: 'flotilla-system', name: 'flotilla-projects' })
  await close()
  assert.equal((await first.hub.stop()).code, 0)

  const second = await start()
  const upgraded = await clientByKubeconfig(second.kubeconfig)
  t.after(() => upgraded.close())
  const { items } = await upgraded.client.list(Project)
  const found = items.map(({ metadata, spec }) => `${metadata.name}: ${(spec.namespaces ?? []).join(' ')}`)
  assert.deepEqual(found.toSorted(), [
    'default: default',
    'fleet-default: fleet-default',
    'fleet-local: fleet-local',
    'migrated-pos: pos',
    'migrated-shop: shop',
  ])
  const shop = items.find(({ metadata }) => metadata.name === 'migrated-shop')!
  const { kinds, targetNamespaces, sources, clusterSets, executors, plans } = shop.spec
  for (const list of [kinds, targetNamespaces, sources, clusterSets, plans]) assert.deepEqual(list, ['*'])
  assert.equal(executors?.ownRights, true)
  await eventually('placed again', async () => ((await ready(second.kubeconfig)) === 'NoProject' ? undefined : true))
  const check = await runFlotilla(t, ['check', '--kubeconfig', second.kubeconfig])
  assert.match(`${check.stdout}${check.stderr}`, /migrated-pos.*migrated-shop/)

  // A Project that an administrator deletes stays deleted.
  await upgraded.client.delete(Project, { name: 'migrated-pos' })
  assert.equal((await second.hub.stop()).code, 0)
  const third = await start()
  const later = await clientByKubeconfig(third.kubeconfig)
  t.after(() => later.close())
  assert.ok(!(await later.client.list(Project)).items.some(({ metadata }) => metadata.name === 'migrated-pos'))
  assert.equal((await third.hub.stop()).code, 0)
}
