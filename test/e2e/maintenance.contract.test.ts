/** A hub as a process goes into maintenance and out of it: what it does, what it leaves, and who hears of it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOver } from '../../src/client/create-client.ts'
import { silentLogger } from '../../src/core/log.ts'
import { systemIds } from '../../src/core/system-ids.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { freePort } from '../../src/hub/http/free-port.ts'
import { inviteCluster } from '../../src/hub/join/invite-cluster.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { Cluster } from '../../src/kinds/native/cluster.ts'
import { ClusterReport } from '../../src/kinds/native/cluster-report.ts'
import { Placement } from '../../src/kinds/native/placement.ts'
import { Release } from '../../src/kinds/native/release.ts'
import { createSite } from '../../src/sim/demo/site.ts'
import type { Site } from '../../src/sim/demo/site.ts'
import { buildBundle, buildPlacement, configMapManifest } from '../../src/testing/fixtures/builders.ts'
import { eventually, FREE, lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { versionAt } from './ha-world.ts'
import { restOf } from './hub-rest.ts'

/** Longer than the hub needs for a change of a Bundle. */
const LONG_MS = 4_000

async function startScene(context: TestContext) {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const metrics = await freePort('127.0.0.1')
  const gateway = await freePort('127.0.0.1')
  const listen = ['--metrics-listen', `127.0.0.1:${metrics}`, '--gateway-listen', `127.0.0.1:${gateway}`]
  const run = async () => {
    const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...listen])
    await hub.says(/^flotilla hub ready/)
    return { hub, client: clientOver(await restOf(t, join(data, 'admin.kubeconfig'))) }
  }
  const flotilla = async (...args: string[]) =>
    await runFlotilla(t, [...args, '--kubeconfig', join(data, 'admin.kubeconfig')])
  const life = new AbortController()
  const running: Promise<void>[] = []
  const sites: Site[] = []
  t.after(async () => {
    life.abort()
    await Promise.allSettled(running)
    for (const { cluster } of sites) await cluster.close()
  })
  const joins = async (name: string, client: Awaited<ReturnType<typeof run>>['client']) => {
    const terms = { labels: { tier: 'store' }, accept: 'Auto', ttlMs: 600_000 } as const
    const ports = { clock: systemClock, ids: systemIds, log: silentLogger }
    const { code: joinCode } = await inviteCluster({ cluster: name, ...terms }, { client, ...ports })
    const site = await createSite({ ...ports, store: { name, region: 'north', ring: 'rest' }, joinCode, folder })
    sites.push(site)
    running.push(site.run(life.signal))
    return site
  }
  const write = async (version: number, client: Awaited<ReturnType<typeof run>>['client']): Promise<void> => {
    const manifests = configMapManifest('shop', { version: String(version) })
    const bundle = buildBundle('default/shop', { manifests, placement: 'stores' })
    await client.apply(Bundle, bundle, { fieldManager: 'person', force: true })
  }
  const metric = async (): Promise<string | undefined> => {
    const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    return /^flotilla_hub_maintenance (\d)$/m.exec(page)?.[1]
  }
  return { run, flotilla, joins, write, metric }
}

test('in maintenance nothing is decided, also after a restart, and agents go on', async (t) => {
  const { run, flotilla, joins, write, metric } = await startScene(t)
  const first = await run()
  await first.client.create(Placement, buildPlacement('default/stores', { tier: 'store' }))
  await write(1, first.client)
  const site = await joins('store-1', first.client)
  await eventually('the first version', async () => ((await versionAt(site)) === 1 ? true : undefined))
  assert.equal(await metric(), '0')

  const missing = await flotilla('hub', 'maintenance', 'on')
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /missing --reason/)
  const on = await flotilla('hub', 'maintenance', 'on', '--reason', 'upgrade of the disk')
  assert.equal(on.code, 0, on.stderr)
  assert.equal(on.stdout, 'maintenance on; confirmed by 0: nothing is decided\n')
  assert.equal(await metric(), '1')
  assert.match((await flotilla('status')).stdout, /^Maint\. +maintenance since \w+: upgrade of the disk/m)
  const checked = await flotilla('check')
  assert.match(checked.stdout, /maintenance since \w+: upgrade of the disk; nothing is decided until/)
  assert.equal(checked.code, 0, checked.stdout)

  await write(2, first.client)
  await joins('store-2', first.client)
  const before = (await first.client.list(Release, { namespace: 'default' })).items.length
  await sleep(LONG_MS)
  assert.equal((await first.client.list(Release, { namespace: 'default' })).items.length, before)
  assert.deepEqual(
    (await first.client.list(Cluster)).items.map(({ metadata }) => metadata.name),
    ['store-1'],
  )
  assert.equal(await versionAt(site), 1)
  assert.equal((await first.hub.stop()).code, 0)

  const second = await run()
  await sleep(LONG_MS)
  assert.equal((await second.client.list(Release, { namespace: 'default' })).items.length, before)
  const report = await second.client.get(ClusterReport, { name: 'store-1' })
  assert.equal(report.spec.bundles[0]?.state, 'Ready')
  const off = await flotilla('hub', 'maintenance', 'off')
  assert.equal(off.stdout, 'maintenance off; confirmed by 0: the hub works again\n', off.stderr)
  await eventually('the second version', async () => ((await versionAt(site)) === 2 ? true : undefined))
  await eventually('the second cluster joining', async () =>
    (await second.client.list(Cluster)).items.length === 2 ? true : undefined,
  )
  assert.equal(await metric(), '0')
  assert.doesNotMatch((await flotilla('status')).stdout, /^Maint\./m)
  assert.equal((await second.hub.stop()).code, 0)
})
