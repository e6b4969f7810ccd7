/** All of it embedded: a hub, two clusters, and what they go through together. */
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
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
import { runFlotilla, temporaryFolder } from './flotilla-process.ts'
import { startEmbeddedSite, startKeepWorld } from './keep-world.ts'
import type { KeepWorld } from './keep-world.ts'

describe('an embedded hub and embedded clusters', { timeout: 1_200_000 }, () => {
  const closers: (() => void | Promise<void>)[] = []
  const t = { after: (close: () => void | Promise<void>) => void closers.unshift(close) }
  let world: KeepWorld

  before(async () => {
    const folder = temporaryFolder(t)
    const site = (name: string) => startEmbeddedSite(t, folder, name)
    world = await startKeepWorld(t, { sites: { 'store-1': await site('store-1'), 'store-2': await site('store-2') } })
    await world.startHub()
  })
  after(async () => {
    for (const close of closers) await close()
  })

  const database = () => readdirSync(world.data).filter((name) => name.startsWith('hub.db'))

  it('join, wait for a person, and follow', () => joinAcceptFollow(world))
  it('go on after the hub was killed', () => killHub(world))
  it('walk forward through rotations of signer and CA, also one that was away', () => rotateWhileAway(world))
  it('repair without the hub with certificates that have run out, also from the start, and renew them when it is back', () =>
    repairWithExpiredCertificates(world))
  it('follow over a line of 1 KB/s', () => followOverThinLine(world))
  it('go on where they were after resets in the middle of a blob', () => resumeAfterResets(world))
  it('get nothing when they are revoked, and are the same clusters when they are taken back', () =>
    revokeAndTakeBack(world))

  it('change nothing when the hub comes back from a copied database, until a person says so', () =>
    comeBackFromThePast(world, 'copied', async () => {
      const old = join(world.folder, 'old')
      mkdirSync(old)
      for (const name of database()) cpSync(join(world.data, name), join(old, name))
      return async () => {
        for (const name of database()) rmSync(join(world.data, name))
        for (const name of readdirSync(old)) cpSync(join(old, name), join(world.data, name))
      }
    }))

  it('change nothing when the hub is restored from an old backup, until a person says so', () =>
    comeBackFromThePast(world, 'restored', async () => {
      const file = join(world.folder, 'backup.tar')
      await done('backup', file, '--data', world.data)
      return async () => {
        const lost = join(world.folder, 'lost')
        renameSync(world.data, lost)
        await done('restore', file, '--data', world.data, '--keys', join(lost, 'keys'))
      }
    }))

  it('end without a complaint', () => world.end())

  async function done(...args: string[]): Promise<void> {
    const { code, stderr } = await runFlotilla(t, args)
    if (code !== 0) throw new Error(`flotilla ${args.join(' ')}: ${stderr}`)
  }
})
