import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnknownObject } from '../../kinds/meta.ts'
import { findPlaintextSecrets, refuseSecrets } from './plaintext-secrets.ts'
import { RenderFailure } from './render-failure.ts'

const secret = (fields: object, name = 's'): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  ...fields,
})
const ENCRYPTED = 'ENC[AES256_GCM,data:aGVsbG8=,iv:aXY=,tag:dGFn,type:str]'

const SECRETS: readonly [string, object, string[]][] = [
  ['no values', {}, []],
  ['data', { data: { p: 'eA==' } }, ['p']],
  ['stringData', { stringData: { p: 'x', q: 'y' } }, ['p', 'q']],
  ['an input', { stringData: { p: '${ .Inputs.db.p }' } }, []],
  ['SOPS', { sops: { mac: 'm' }, data: { p: ENCRYPTED } }, []],
  ['SOPS that leaves a key open', { sops: { mac: 'm' }, stringData: { p: ENCRYPTED, q: 'y' } }, ['q']],
  ['the form of SOPS without its metadata', { stringData: { p: ENCRYPTED } }, ['p']],
  ['a text that only begins like SOPS', { sops: { mac: 'm' }, stringData: { p: 'ENC[hunter2' } }, ['p']],
]

test('plaintext is a value outside the form of SOPS', () => {
  for (const [name, fields, keys] of SECRETS)
    assert.deepEqual(
      findPlaintextSecrets([secret(fields)]).flatMap((one) => one.keys),
      keys,
      name,
    )
  const sealed = { apiVersion: 'bitnami.com/v1alpha1', kind: 'SealedSecret', metadata: { name: 's' } }
  assert.deepEqual(findPlaintextSecrets([{ ...sealed, data: { p: 'x' } }]), [])
})

test('all refused Secrets are named, with what to write and without a value', () => {
  const written = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => secret({ stringData: { p: 'hunter2' } }, name))
  assert.throws(
    () => refuseSecrets(written),
    (error) => {
      assert.ok(error instanceof RenderFailure)
      assert.match(error.message, /Secret e has its content \(p\) and 1 more Secret has its content in the repository/)
      assert.match(error.message, /annotate the Source, .* with flotilla\.dev\/secrets: Allow$/)
      assert.doesNotMatch(error.message, /hunter2/)
      assert.deepEqual(error.problem().plaintext, ['a', 'b', 'c', 'd', 'e', 'f'])
      return true
    },
  )
  refuseSecrets([secret({})])
})
