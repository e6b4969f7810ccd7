import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair } from '../../../src/core/bytes.ts'
import { sealDriftValues } from '../../../src/plan/drift/drift-values.ts'
import type { DriftValues } from '../../../src/plan/drift/drift-values.ts'
import { newRequestKey, openSealedValues } from './sealed-values.ts'

const CONTEXT = { clusterId: 'c-"1"', bundle: 'shop/web', asked: '2026-01-01T00:00:00Z' }
const VALUES: DriftValues = {
  objects: [{ object: 'ConfigMap shop/greeting', fields: [{ field: '.data.text', delivered: 'für', live: '2 €' }] }],
}

test('values that an agent sealed to the key of the tab open there, and with no other key and in no other place', async () => {
  const key = await newRequestKey()
  const sealed = sealDriftValues(CONTEXT, key.publicKey, VALUES, generateKeyPair('x25519'))
  assert.deepEqual(await openSealedValues(CONTEXT, sealed, key), VALUES)
  await assert.rejects(openSealedValues(CONTEXT, sealed, await newRequestKey()))
  await assert.rejects(openSealedValues({ ...CONTEXT, clusterId: 'c-2' }, sealed, key))
  await assert.rejects(openSealedValues({ ...CONTEXT, asked: '2026-01-01T00:00:01Z' }, sealed, key))
})
