import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { createKeyFiles } from '../../../hub/keys/hub-keys.ts'
import type { Terminal } from '../../print/terminal.ts'
import { expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import {
  hubNewEpoch,
  printTrustSecret,
  trustExport,
  trustInit,
  trustRequireAgent,
  trustRotate,
  trustRotateApi,
} from './trust.ts'

test('trust is changed with a root key from elsewhere, and not without it', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'flotilla-trust-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  const wanted = { endpoints: ['https://hub.example:7444'], minAgentVersion: '0.1.0' }
  mkdirSync(join(data, 'keys'))
  for (const [name, text] of Object.entries(createKeyFiles(wanted, { clock: systemClock, ids: systemIds }))) {
    writeFileSync(join(data, 'keys', name), text)
  }
  const root = join(data, 'root-on-a-stick')
  renameSync(join(data, 'keys', 'root.key'), root)
  let out = ''
  const printed = { data: (text: string) => (out += text), say: () => {}, step: () => {} }
  const terminal = { ...printed, isInteractive: true } as unknown as Terminal
  const batch = { ...printed, isInteractive: false } as unknown as Terminal
  const asked: string[] = []
  const confirm = async (question: string) => (asked.push(question), false)
  const input = (more: object = {}) => ({ terminal, confirm, flags: { data, ...more } })

  await assert.rejects(trustRotate('signer', input()), /the root key is not in the data directory/)
  await assert.rejects(trustRotate('signer', input({ root: join(data, 'keys', 'signer.key') })), /believe sha256:/)
  await trustRotate('signer', input({ root }))
  await trustRotate('ca', input({ root }))
  await trustRequireAgent('0.2.0', input({ root }))
  await assert.rejects(trustRequireAgent('new', input({ root })), /invalid version "new"/)
  await assert.rejects(trustRotate('ca', input({ root, dropOld: true })), /nothing was changed/)
  await assert.rejects(hubNewEpoch(input({ root })), /nothing was changed/)
  await assert.rejects(trustRotateApi(input()), /nothing was changed/)
  assert.equal(asked.length, 3)
  for (const act of [hubNewEpoch, trustRotateApi]) {
    const report = await expectErrorReport(act({ ...input({ root }), terminal: batch }))
    assert.equal(report.todo, 'pass --yes to confirm')
  }
  assert.equal(asked.length, 3, 'without a terminal there is nothing to ask')
  await hubNewEpoch(input({ root, yes: true }))
  assert.match(
    out,
    /trust version 2: new signer\ntrust version 3: new CA\ntrust version 4: agents require version 0\.2\.0 or newer\nepoch 2, trust version 1004\n/,
  )
  out = ''
  await trustExport(input())
  const exported = JSON.parse(out) as { newest: { signers: string[]; transportCas: string[] }; bundles: string[] }
  assert.deepEqual(
    [exported.bundles.length, exported.newest.signers.length, exported.newest.transportCas.length],
    [5, 2, 2],
  )
  assert.doesNotMatch(out, /PRIVATE/)
})

test('an operator makes keys, and the Secret of them is printed into a pipe only', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'flotilla-trust-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  let out = ''
  const terminal = { data: (text: string) => (out += text), say: () => {}, step: () => {} } as unknown as Terminal
  const flags = { data, name: 'keys', namespace: 'fleet' }
  await assert.rejects(trustInit(['http://hub.example'], { terminal, flags }), /must be https:\/\/HOST:PORT/)
  await trustInit(['https://hub.example:7444'], { terminal, flags })
  assert.match(out, /^root key sha256:[0-9a-f]{64}\n$/)
  out = ''
  const screen = { ...terminal, isLive: true }
  await assert.rejects(printTrustSecret({ terminal: screen, flags }), /is not printed on a terminal/)
  assert.equal(out, '')
  await printTrustSecret({ terminal: { ...terminal, isLive: false }, flags })
  assert.match(
    out,
    /^apiVersion: v1\n[^]*kind: Secret\nmetadata:\n {2}name: keys\n {2}namespace: fleet\ntype: Opaque\n/,
  )
  assert.match(out, /^ {2}signer.key: /m)
  assert.doesNotMatch(out, /root\.key/)
})
