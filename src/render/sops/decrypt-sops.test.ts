import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBase64, fromUtf8 } from '../../core/bytes.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'
import { AGE_KEY, encryptSops } from '../../testing/sops/encrypt-sops.ts'
import { readIdentities } from './age.ts'
import { decryptSops } from './decrypt-sops.ts'
import type { SopsOptions } from './decrypt-sops.ts'
import { createKeyRing } from './key-ring.ts'
import type { SopsFormat } from './sops-tree.ts'

interface FileCase {
  readonly data: string
  readonly format: SopsFormat
  readonly outputFormat: SopsFormat
  readonly objects: readonly { readonly data: Readonly<Record<string, string>> }[]
  readonly expect: { readonly output?: string }
}

const cases = new Map(readCases('flux/sops.jsonl.gz').map((one) => [one.id, one as unknown as FileCase]))

function keysOf({ objects }: FileCase): Map<string, string> {
  return new Map(Object.entries(objects[0]?.data ?? {}).map(([key, value]) => [key, fromUtf8(fromBase64(value))]))
}

function decrypted(id: string, options: Partial<SopsOptions> = {}, change = (data: string) => data): string {
  const one = cases.get(id)!
  const ring = options.ring ?? createKeyRing(keysOf(one))
  const formats = { input: one.format, output: one.outputFormat }
  return fromUtf8(decryptSops(change(one.data), formats, { checkMac: true, ...options, ring }))
}

test('the MAC of untouched files fits, in all formats and with all rules about what is encrypted', () => {
  for (const id of ['sops-0003', 'sops-0011', 'sops-0019', 'sops-0025', 'sops-0043', 'sops-0044', 'sops-0046']) {
    assert.equal(decrypted(id), cases.get(id)!.expect.output, id)
  }
  for (const id of ['sops-0047', 'sops-0048', 'sops-0049', 'sops-0050', 'sops-0052', 'sops-0071']) {
    assert.equal(decrypted(id), cases.get(id)!.expect.output, id)
  }
})

test('a changed file is refused by its MAC, and read where the MAC does not count', () => {
  for (const id of ['sops-0055', 'sops-0057', 'sops-0058', 'sops-0063']) {
    assert.throws(() => decrypted(id), { name: 'SopsError', message: /^MAC mismatch: / }, id)
    assert.equal(decrypted(id, { checkMac: false }), cases.get(id)!.expect.output, id)
  }
  const added = (data: string): string => data.replace('\nsops:', '\nadded: open\nsops:')
  assert.throws(() => decrypted('sops-0071', {}, added), /MAC mismatch/)
})

test('a mask stands for each decrypted value, and the ring knows what was decrypted', () => {
  const ring = createKeyRing(keysOf(cases.get('sops-0071')!))
  assert.equal(decrypted('sops-0071', { ring, mask: '${sops}' }), 'a: ${sops}\nb: open\n')
  assert.deepEqual(ring.revealed, ['secret'])
})

test('no message repeats a value or a key', () => {
  const keys = keysOf(cases.get('sops-0071')!)
  const bad = (change: (data: string) => string): string => {
    try {
      return decrypted('sops-0071', {}, change)
    } catch (caught) {
      return (caught as Error).message
    }
  }
  const messages = [
    bad((data) => data.replace('b: open', 'b: open\nc: [')),
    bad((data) => data.replace(/a: ENC.*/, 'a: plaintext-canary')),
    bad((data) => data.replace(/tag:[^,]+/, 'tag:AAAA')),
    bad((data) => data.replace('type:str', 'type:int')),
    bad((data) => data.replace('type:str', 'type:canary')),
    bad((data) => data.replace('encrypted_regex: ^a$', 'encrypted_regex: "("')),
  ]
  for (const message of messages) {
    assert.match(message, /failed to load|error decrypting/)
    assert.doesNotMatch(message, /plaintext-canary|secret$/)
    for (const key of keys.values()) assert.ok(!message.includes(key.trim()))
  }
})

test('a binary file keeps its bytes', () => {
  const [identity] = readIdentities(AGE_KEY)
  const bytes = Uint8Array.of(0, 0xff, 0xfe, 0x0a, 0x80)
  const file = encryptSops({ data: bytes }, identity!.recipient, ['data'])
  const options = { ring: createKeyRing(new Map([['a.agekey', AGE_KEY]])), checkMac: true }
  const content = decryptSops(file, { input: 'binary', output: 'binary' }, options)
  assert.deepEqual([...content], [...bytes])
})

test('hostile files end at a limit', () => {
  const ring = createKeyRing(keysOf(cases.get('sops-0071')!))
  const options = { ring, checkMac: true }
  const yaml = { input: 'yaml', output: 'yaml' } as const
  const refused = (data: string, message: RegExp, formats: typeof yaml | { input: 'json'; output: 'json' } = yaml) =>
    assert.throws(() => decryptSops(data, formats, options), { name: 'SopsError', message })
  refused('a'.repeat(6 * 1024 * 1024), /exceeding limit/)
  const recipients = Array.from({ length: 2_000 }, () => '  - {recipient: age1x, enc: x}').join('\n')
  refused(`a: b\nsops:\n  mac: ENC[x]\n  age:\n${recipients}\n`, /more than 32 key groups or 1000 keys/)
  const groups = Array.from({ length: 40 }, () => '  - age: [{recipient: age1x, enc: x}]').join('\n')
  refused(`a: b\nsops:\n  key_groups:\n${groups}\n`, /more than 32 key groups/)
  refused(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`, /nested more than 500 levels/, {
    input: 'json',
    output: 'json',
  })
  refused(`a: ${'['.repeat(2_000)}${']'.repeat(2_000)}\nsops: {}\n`, /the text is not YAML/)
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  for (let letter = 'b'; letter <= 'h'; letter = String.fromCharCode(letter.charCodeAt(0) + 1)) {
    const last = String.fromCharCode(letter.charCodeAt(0) - 1)
    bomb.push(`${letter}: &${letter} [${Array.from({ length: 10 }, () => `*${last}`).join(', ')}]`)
  }
  refused(`${bomb.join('\n')}\nsops: {mac: x}\n`, /the text is not YAML|more than 500000 values/)
})

test('key services of clouds are refused by name', () => {
  const options = { ring: createKeyRing(new Map()), checkMac: true }
  const entry = 'sops: {kms: [{arn: "arn:aws:kms:eu:1:key/k", enc: x}], mac: x}'
  assert.throws(() => decryptSops(`a: b\n${entry}\n`, { input: 'yaml', output: 'yaml' }, options), {
    message:
      /arn:aws:kms:eu:1:key\/k: FAILED\n {4}- \| AWS KMS is not supported: encrypt the file for a key of age\n {6}\| or OpenPGP/,
  })
})
