/**
 * Real parts: a hub whose home is a real kube-apiserver with an etcd of its own, and a real cluster beside an embedded
 * one. The same steps as all-embedded (keep.contract.test.ts), and those that need a home which several hubs share.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../../src/hub/http/free-port.ts'
import { startConnectProxy } from '../../src/testing/agents/network-proxies.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { temporaryFolder } from './flotilla-process.ts'
import {
  comeBackFromThePast,
  followOverThinLine,
  joinAcceptFollow,
  killHub,
  repairWithExpiredCertificates,
  resumeAfterResets,
  revokeAndTakeBack,
  rotateWhileAway,
} from './keep-flow.ts'
import { eventually, startEmbeddedSite, startKeepWorld } from './keep-world.ts'
import type { KeepWorld } from './keep-world.ts'

describe('a hub on a kube-apiserver and clusters, one of them real, through a proxy', { timeout: 1_400_000 }, () => {
  const closers: (() => void | Promise<void>)[] = []
  const t = { after: (close: () => void | Promise<void>) => void closers.unshift(close) }
  const hosts: string[] = []
  let home: ControlPlane
  let world: KeepWorld

  before(async () => {
    home = await startControlPlane({ ownEtcd: true })
    t.after(() => home.stop())
    const spoke = await startControlPlane({ controllers: true, nodes: 1 })
    t.after(() => spoke.stop())
    const proxy = await startConnectProxy(hosts)
    t.after(() => proxy.close())
    world = await startKeepWorld(t, {
      sites: {
        'store-1': spoke.kubeconfigPath,
        'store-2': await startEmbeddedSite(t, temporaryFolder(t), 'store-2'),
      },
      hubFlags: ['--kubeconfig', home.kubeconfigPath],
      agentEnv: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: '' },
    })
    await world.startHub()
  })
  after(async () => {
    for (const close of closers) await close()
  })

  it('join, wait for a person, and follow', async () => {
    await joinAcceptFollow(world)
    assert.deepEqual(new Set(hosts), new Set([`127.0.0.1:${world.relay.port}`]), 'all of it through the proxy')
  })

  it('go on after the hub was killed', () => killHub(world))
  it('walk forward through rotations of signer and CA, also one that was away', () => rotateWhileAway(world))
  it('repair without the hub with certificates that have run out, also from the start, and renew them when it is back', () =>
    repairWithExpiredCertificates(world))
  it('follow over a line of 1 KB/s', () => followOverThinLine(world))
  it('go on where they were after resets in the middle of a blob', () => resumeAfterResets(world))
  it('get nothing when they are revoked, and are the same clusters when they are taken back', () =>
    revokeAndTakeBack(world))

  it('change nothing when the home comes back from an old state of etcd, until a person says so', () =>
    comeBackFromThePast(world, 'etcd', () => home.remember()))

  it('go on with the second hub when the first one and its gateway are killed', async () => {
    // As two replicas behind one address have it: the same keys, and one place for blobs.
    const second = join(world.folder, 'second')
    mkdirSync(second, { mode: 0o700 })
    cpSync(join(world.data, 'keys'), join(second, 'keys'), { recursive: true })
    symlinkSync(join(world.data, 'blobs'), join(second, 'blobs'))
    const door = await freePort('127.0.0.1')
    const other = await world.runHub(second, door)
    world.relay.targets.push(door)
    const connections = world.relay.connections()
    await world.killHubOnly()
    await eventually('agents at the second gateway', async () => world.relay.connections() > connections || undefined)
    await world.apply('second hub')
    await world.untilNote('second hub')
    for (const name of world.names) assert.equal((await world.condition(name, 'Available'))?.status, 'True')
    assert.equal((await other.stop()).code, 0)
    await world.startHub()
  })

  it('end without a complaint', () => world.end())
})
