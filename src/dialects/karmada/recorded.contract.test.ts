/** Karmada's recorded answers against the product's own functions: every family, and the list of what differs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { jsonEqual } from '../../core/json.ts'
import { isSameAnswer } from '../../../test/recorded/karmada/is-same-answer.ts'
import { KARMADA_FAMILIES } from '../../../test/recorded/karmada/families.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'
import { snapshotOf } from './schedule/cluster-snapshot.ts'
import { scheduleBinding } from './schedule/schedule-binding.ts'
import type { KarmadaBinding, KarmadaCluster } from './types.ts'

const LEAST_SHARE = 0.98
const DIFFERENT = JSON.parse(
  readFileSync(new URL('../../../test/recorded/karmada/differences.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, string>>

for (const [family, answer] of Object.entries(KARMADA_FAMILIES)) {
  test(`${family} is as recorded`, () => {
    const cases = readCases(`karmada/${family}.jsonl.gz`)
    const different = cases.filter(({ expect, ...question }) => !isSameAnswer(family, answer(question), expect))
    assert.deepEqual(
      different.map(({ id }) => id),
      Object.keys(DIFFERENT[family] ?? {}),
      'differences.json lists each case that differs, with its cause, and no other',
    )
    assert.ok(different.length <= cases.length * (1 - LEAST_SHARE), `${different.length} of ${cases.length} differ`)
  })
}

interface Workload {
  readonly clusters: readonly KarmadaCluster[]
  readonly bindings: Readonly<Record<string, readonly KarmadaBinding[]>>
}

test('1,000 clusters and 2,000 bindings: each binding has the recorded replicas', () => {
  const bytes = readFileSync(new URL('../../../test/recorded/karmada/workload.json.gz', import.meta.url))
  const workload = JSON.parse(gunzipSync(bytes).toString()) as Workload
  const clusters = workload.clusters.map(snapshotOf)
  const bindings = Object.values(workload.bindings).flat()
  const recorded = new Map(readCases('karmada/workload-answers.jsonl.gz').map((one) => [one['name'], one['clusters']]))
  const different = bindings.filter((binding) => {
    const targets = scheduleBinding({ binding, clusters }).clusters
    const replicas = Object.fromEntries(targets.map(({ name, replicas: count }) => [name, count]))
    return !jsonEqual(replicas, recorded.get(binding.metadata.name))
  })
  assert.equal(bindings.length, 2000)
  assert.deepEqual(
    different.map(({ metadata }) => metadata.name),
    [],
  )
})

test('a wrong answer is not the same', () => {
  for (const family of Object.keys(KARMADA_FAMILIES)) {
    const answers = readCases(`karmada/${family}.jsonl.gz`).map(({ expect }) => expect)
    const other = answers.find((one) => !jsonEqual(one, answers[0]))
    assert.equal(isSameAnswer(family, other, answers[0]), false, family)
    assert.equal(isSameAnswer(family, answers[0], answers[0]), true, family)
  }
})
