import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair } from '../../core/bytes.ts'
import { silentLogger } from '../../core/log.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { amendTrust, TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import { createKeyReloader } from './key-reloader.ts'
import { createKeyFiles, readKeyFiles } from './hub-keys.ts'
import type { HubKeys } from './hub-keys.ts'

test('keys that change on disk are spread before they are used, bad ones are not, and certificates are renewed in time', async () => {
  const clock = createVirtualClock()
  const ports = { clock, ids: countingIds(), newKeyPair: generateKeyPair }
  const wanted = { endpoints: ['https://hub.example:7444'], minAgentVersion: '0.1.0' }
  let files = createKeyFiles(wanted, ports)
  const first = readKeyFiles(files)
  const spread: HubKeys[] = []
  const kept = createKeyReloader(first, {
    clock,
    log: silentLogger,
    renewMs: 3_600_000,
    read: async () => readKeyFiles(files),
    spread: async (keys) => {
      assert.equal(kept.current().trust.newest.bundle.version, spread.at(-1)?.trust.newest.bundle.version ?? 1)
      spread.push(keys)
    },
  })
  const stop = new AbortController()
  const running = kept.run(stop.signal)
  await clock.advance(60_000)
  assert.equal(spread.length, 0)

  files = { ...files, [TRUST_FILES.bundles]: amendTrust(first.trust, { minAgentVersion: '0.2.0' }, clock.now()) }
  await clock.advance(5000)
  assert.equal(kept.trust.newest.bundle.version, 2)
  assert.equal(spread.length, 1)

  const good = files
  files = { ...files, [TRUST_FILES.signer]: generateKeyPair('ed25519').privateKey }
  await clock.advance(60_000)
  assert.equal(kept.trust.signer.keyId, first.trust.signer.keyId, 'a signer that the root does not name signs nothing')
  assert.equal(spread.length, 1)
  files = good

  await clock.advance(3_600_000)
  assert.equal(spread.length, 2, 'listeners get new certificates in time')
  stop.abort()
  await clock.settle()
  await running
})

test('new keys sign nothing before all processes of the hub have them', async () => {
  const clock = createVirtualClock()
  const ports = { clock, ids: countingIds(), newKeyPair: generateKeyPair }
  let files = createKeyFiles({ endpoints: ['https://hub.example:7444'], minAgentVersion: '0.1.0' }, ports)
  const first = readKeyFiles(files)
  let others: string[] | Error = ['b', 'c']
  const asked: number[] = []
  let spreads = 0
  let changes = 0
  const kept = createKeyReloader(first, {
    clock,
    log: silentLogger,
    read: async () => readKeyFiles(files),
    spread: async () => void (spreads += 1),
    lacking: async (version) => {
      asked.push(version)
      if (others instanceof Error) throw others
      return others
    },
  })
  kept.onChange(() => (changes += 1))
  const stop = new AbortController()
  const running = kept.run(stop.signal)
  files = { ...files, [TRUST_FILES.bundles]: amendTrust(first.trust, { minAgentVersion: '0.2.0' }, clock.now()) }
  await clock.advance(10_000)
  assert.equal(kept.spreadVersion(), 2, 'gateways have it at once')
  assert.equal(kept.current().trust.newest.bundle.version, 1)
  others = new Error('the API does not answer')
  await clock.advance(10_000)
  assert.equal(kept.current().trust.newest.bundle.version, 1)
  others = []
  await clock.advance(4_000)
  assert.equal(kept.current().trust.newest.bundle.version, 2)
  assert.deepEqual({ spreads, changes }, { spreads: 1, changes: 1 })
  const looks = asked.length
  await clock.advance(60_000)
  assert.equal(asked.length, looks, 'nothing is asked while nothing changes')
  stop.abort()
  await clock.settle()
  await running
})
