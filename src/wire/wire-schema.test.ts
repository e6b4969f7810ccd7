import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { firstSchemaProblem } from '../core/schema/check-schema.ts'
import { REPORTED_FIELDS, ReportedBundle } from '../kinds/fields/report.ts'
import { int, listOf, object, optional, text, time } from '../kinds/schema/schema-builders.ts'
import { Report, ReportRow } from './link/frames.ts'
import { LIMITS } from './limits.ts'
import { wireSchema } from './wire-schema.ts'

const kind = object({
  count: int({ minimum: 1, maximum: 9, default: 1, description: 'Dropped.' }),
  message: optional(text({ max: 4096, pattern: '^[a-z]*$' })),
  at: optional(time()),
  rows: optional(listOf(object({ name: text({ max: 3 }) }), { max: 2 })),
})

describe('a schema derived from a kind', () => {
  const fits = (value: unknown) => firstSchemaProblem(wireSchema(kind), value) === undefined

  it('keeps the bounds and the optional fields of the kind', () => {
    assert.ok(fits({ count: 1 }))
    assert.ok(fits({ count: 9, message: 'a', at: '2026-01-01T00:00:00Z', rows: [{ name: 'abc' }] }))
    for (const wrong of [
      {},
      { count: 0 },
      { count: 10 },
      { count: 1.5 },
      { count: 1, message: 'A' },
      { count: 1, rows: [{ name: 'abcd' }] },
      { count: 1, rows: [{}] },
      { count: 1, rows: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    ]) {
      assert.ok(!fits(wrong), JSON.stringify(wrong))
    }
  })

  it('refuses unknown fields at every depth, long texts and times outside UTC', () => {
    assert.ok(!fits({ count: 1, more: 1 }))
    assert.ok(!fits({ count: 1, rows: [{ name: 'a', more: 1 }] }))
    assert.ok(fits({ count: 1, message: 'a'.repeat(LIMITS.messageChars) }))
    assert.ok(!fits({ count: 1, message: 'a'.repeat(LIMITS.messageChars + 1) }))
    assert.ok(!fits({ count: 1, at: '2026-01-01T00:00:00+01:00' }))
  })

  it('has no keyword that checks nothing', () => {
    const text = JSON.stringify(wireSchema(kind))
    assert.doesNotMatch(text, /description|default|x-kubernetes|format/)
  })
})

it('every field of a ClusterReport row and of a report is on the wire', () => {
  assert.deepEqual(Object.keys(ReportRow.properties).toSorted(), Object.keys(ReportedBundle.properties).toSorted())
  for (const name of Object.keys(REPORTED_FIELDS)) assert.ok(name in Report.properties, name)
})
