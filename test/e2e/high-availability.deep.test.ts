/**
 * Three hubs and a gateway on one kube-apiserver with three members of etcd and an S3 server, under load: the leader is
 * killed, then a gateway, then the leader of etcd, then the S3 server is away. Nothing is lost, nothing is doubled, and everything converges.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from './flotilla-process.ts'
import {
  assertNothingDoubled,
  followDocuments,
  followRefusals,
  joinSites,
  startHaWorld,
  startLoad,
  untilAllReported,
  untilAllRun,
  writesOfHub,
} from './ha-world.ts'

const SITES = 12

test('a hub of several processes survives the end of each of them', async (context) => {
  const members = [{ name: 'hub-0' }, { name: 'hub-1' }, { name: 'hub-2' }, { name: 'gateway-0', roles: 'gateway' }]
  const world = await startHaWorld(context, members)
  const { note, leaderOf, kill, killEtcdLeader, start, hubNamed, s3 } = world
  const sites = await joinSites(world, SITES)
  const documents = followDocuments(world)
  const load = startLoad(world)
  await untilAllRun(sites, 1, 'the first version')
  note(`all clusters run version ${load.acknowledged()} or the one before`)

  const leader = await eventually('a leader', () => leaderOf('flotilla-hub'))
  await kill(leader)
  const next = await eventually('another leader', async () => {
    const found = await leaderOf('flotilla-hub')
    return found === leader ? undefined : found
  })
  note(`${next} leads`)
  assert.notEqual(next, 'gateway-0')
  const written = load.acknowledged()
  await untilAllRun(sites, written, 'after the end of the leader')
  note(`all clusters run version ${written}, written before the end of the leader was noticed`)
  await start(leader)

  await kill('gateway-0')
  const later = load.acknowledged()
  await untilAllRun(sites, later, 'after the end of a gateway')
  note(`all clusters run version ${later}`)
  await start('gateway-0')

  const startMember = await killEtcdLeader()
  const withoutMember = load.acknowledged() + 1
  await untilAllRun(sites, withoutMember, 'without a member of etcd')
  note(`all clusters run version ${withoutMember}, written with two members; ${load.repeated()} writes were repeated`)
  await startMember()

  note('the S3 server ends')
  await s3.kill()
  await sleep(8_000)
  await s3.start()
  note('the S3 server runs again')
  const afterStore = load.acknowledged()
  await untilAllRun(sites, afterStore, 'after the end of the S3 server')
  note(`all clusters run version ${afterStore}`)

  const last = await load.stop()
  await untilAllRun(sites, last, 'at the end')
  await untilAllReported(world, sites)
  note(`all clusters run version ${last}, the last one, and have reported it; ${documents.count()} documents`)
  assert.deepEqual(documents.problems, [])
  await assertNothingDoubled(world)
  const errors: string[] = []
  for (const { name } of members) {
    const ended = await hubNamed(name).process.stop()
    assert.equal(ended.code, 0, ended.stderr)
    // While the S3 server is away, or etcd elects a leader, this is said.
    const isExpected = (line: string): boolean => line.includes(s3.endpoint) || line.includes('"message":"etcdserver: ')
    const lines = ended.stderr.split('\n').filter((line) => line.includes('"level":50') && !isExpected(line))
    errors.push(...lines.map((line) => `${name}: ${line}`))
  }
  assert.deepEqual(errors, [])
  note('all processes ended when they were asked to')
})

test('keys are rotated while the processes of a hub read the Secret one after the other', async (context) => {
  const members = [{ name: 'hub-0' }, { name: 'hub-1' }, { name: 'gateway-0', roles: 'gateway' }]
  const world = await startHaWorld(context, members)
  const { note, leaderOf, flotilla, trust, mountKeys } = world
  const sites = await joinSites(world, 6)
  const documents = followDocuments(world)
  const refusals = followRefusals(world)
  const load = startLoad(world)
  await untilAllRun(sites, 1, 'the first version')

  const leader = await eventually('a leader', () => leaderOf('flotilla-hub'))
  // The leader first: it is the one that signs.
  const order = [leader, ...members.map(({ name }) => name).filter((name) => name !== leader)]
  for (const [what, ...flags] of [['signer'], ['ca'], ['signer', '--drop-old'], ['ca', '--drop-old']] as const) {
    await flotilla('trust', 'rotate', what, '--data', trust, '--yes', ...flags)
    for (const name of order) {
      await mountKeys(name)
      note(`rotate ${[what, ...flags].join(' ')}: ${name} has the new Secret`)
      await sleep(7_000)
    }
    const written = load.acknowledged()
    await untilAllRun(sites, written, `after rotate ${what}`)
    note(`all clusters run version ${written}; ${refusals.seen.length} refusals so far`)
    // A key that is dropped at once is no longer trusted before all processes have the new one.
    if (flags.length === 0) assert.deepEqual(refusals.seen, [])
  }
  const last = await load.stop()
  await untilAllRun(sites, last, 'at the end')
  await untilAllReported(world, sites)
  note(`all clusters run version ${last}, the last one; ${documents.count()} documents`)
  assert.deepEqual(documents.problems, [])
  await assertNothingDoubled(world)
})

test('in maintenance no process of a hub decides anything', async (context) => {
  const members = [{ name: 'hub-0' }, { name: 'hub-1' }, { name: 'gateway-0', roles: 'gateway' }]
  const world = await startHaWorld(context, members)
  const { note, flotilla, home, auditLog } = world
  const sites = await joinSites(world, 4)
  const load = startLoad(world)
  await untilAllRun(sites, 1, 'the first version')
  const on = await flotilla('hub', 'maintenance', 'on', '--reason', 'test', '--kubeconfig', home.kubeconfigPath)
  assert.equal(on, 'maintenance on; confirmed by gateway-0, hub-0, hub-1: nothing is decided\n')
  const from = Date.now()
  note('maintenance is on')
  await sleep(10_000)
  const until = Date.now()
  const written = new Set(writesOfHub(auditLog, from, until))
  note(`meanwhile the hub wrote ${[...written].toSorted().join(', ')}`)
  const allowed = ['leases', 'configmaps', 'clusterreports', 'clusters/status', 'subjectaccessreviews']
  assert.deepEqual(
    [...written].filter((resource) => !allowed.includes(resource)),
    [],
  )
  await flotilla('hub', 'maintenance', 'off', '--kubeconfig', home.kubeconfigPath)
  const last = await load.stop()
  await untilAllRun(sites, last, 'after the maintenance')
  note(`all clusters run version ${last}, the last one`)
})
