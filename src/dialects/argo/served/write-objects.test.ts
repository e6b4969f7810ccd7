import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../core/errors.ts'
import type { Context } from '../../../engine/reconciler.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { Application } from '../kinds.ts'
import type { ArgoPorts } from './ports.ts'
import { ownedObject } from './served-objects.ts'
import { writeObjects } from './write-objects.ts'

const OWNER = build(Application, 'n/web', { spec: {} })

function written(errors: Readonly<Record<string, Error>>) {
  const applied: string[] = []
  const ports = {
    isTaken: () => false,
    find: () => undefined,
    apply: async (_kind: unknown, { metadata }: { readonly metadata: { readonly name: string } }) => {
      const error = errors[metadata.name]
      if (error) throw error
      applied.push(metadata.name)
    },
  } as unknown as ArgoPorts
  const context = { log: { info: () => {} }, signal: new AbortController().signal } as unknown as Context
  const desired = ['a', 'b', 'c'].map((name) => ownedObject(OWNER, Placement, { name, spec: {} }))
  return { applied, problems: writeObjects(OWNER, desired, { ports, context }) }
}

test('a write that is refused is a sentence, and the other objects are written', async () => {
  const { applied, problems } = written({ a: new ApiError('Forbidden', 'no'), b: new ApiError('Invalid', 'bad') })
  assert.deepEqual(await problems, ['Placement a cannot be written: no', 'Placement b cannot be written: bad'])
  assert.deepEqual(applied, ['c'])
})

test('another error ends the pass, which is tried again', async () => {
  await assert.rejects(written({ a: new ApiError('ServiceUnavailable', 'later') }).problems, /later/)
})
