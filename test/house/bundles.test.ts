/** Content of the binaries: the agent has no code of the hub, and every third-party package was reviewed. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bundle } from '../../scripts/bundle.ts'
import type { Bundled } from '../../scripts/bundle.ts'
import { VERSION } from '../../src/core/version.ts'
import { REPOSITORY, roomOf } from './source-tree.ts'

const PACKAGES = JSON.parse(readFileSync(join(REPOSITORY, 'test/house/bundle-packages.json'), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>

const NOT_IN_AGENT = ['store', 'apiserver', 'controllers', 'engine', 'hub', 'gateway', 'cli', 'sim', 'testing']

function roomsOf({ inputs }: Bundled): string[] {
  return [...new Set(inputs.map(roomOf).filter((room) => room !== undefined))].sort()
}

function packagesOf({ inputs }: Bundled): string[] {
  const names = inputs.map((input) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

describe('bundles', () => {
  let bundled: readonly Bundled[] = []
  let folder = ''
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'flotilla-bundles-'))
    bundled = await bundle(folder)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('every binary is built', () => {
    assert.deepEqual(
      bundled.map(({ name }) => name),
      Object.keys(PACKAGES),
    )
    for (const { name, inputs } of bundled) assert.ok(inputs.length > 10, `${name} has only ${inputs.length} files`)
  })

  test('the agent contains nothing of the hub', () => {
    const rooms = roomsOf(bundled.find(({ name }) => name === 'agent')!)
    assert.deepEqual(
      rooms.filter((room) => NOT_IN_AGENT.includes(room)),
      [],
    )
    assert.ok(
      ['agent', 'wire', 'client', 'core'].every((room) => rooms.includes(room)),
      rooms.join(', '),
    )
  })

  test('the hub contains the rooms the agent must not have, so the rule above can fail', () => {
    const rooms = roomsOf(bundled.find(({ name }) => name === 'flotilla')!)
    for (const room of ['controllers', 'engine', 'hub', 'apiserver']) assert.ok(rooms.includes(room), room)
  })

  test('the third-party packages are the committed ones', () => {
    const found = Object.fromEntries(bundled.map((one) => [one.name, packagesOf(one)]))
    assert.deepEqual(found, PACKAGES, 'a package came or went: say why in the commit and edit bundle-packages.json')
  })

  test('the version is the same in the source and in package.json', () => {
    const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string }
    assert.equal(VERSION, version)
  })
})
