/** Recorded answers of Open Cluster Management: its scheduler and its rollout strategies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonEqual } from '../../core/json.ts'
import { OCM_FAMILIES } from '../../../test/recorded/ocm/families.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'
import type { RecordedCase } from '../../../test/recorded/recorded-case.ts'

interface Pass {
  readonly selected?: unknown
  readonly numberOfSelectedClusters?: unknown
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
  readonly decisionGroups?: unknown
  readonly placementDecisions?: unknown
  readonly totals?: Readonly<Record<string, number>>
  readonly prioritizers?: readonly { readonly scores: Readonly<Record<string, number>> }[]
}

const withoutZeros = (scores: Readonly<Record<string, number>> = {}) =>
  Object.fromEntries(Object.entries(scores).filter(([, score]) => score !== 0))

/** The part of a pass that is compared: messages and zero scores are left out. */
const judged = (pass: Pass) => ({
  selected: pass.selected,
  count: pass.numberOfSelectedClusters,
  conditions: (pass.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort(),
  groups: pass.decisionGroups ?? [],
  pages: pass.placementDecisions ?? [],
  totals: withoutZeros(pass.totals),
  prioritizers: (pass.prioritizers ?? []).map((one) => ({ ...one, scores: withoutZeros(one.scores) })),
})

function placementEqual({ notAdmitted, steps, ...rest }: RecordedCase): boolean {
  const recorded = steps as readonly { readonly expect: Pass }[]
  const question = { ...rest, steps: recorded.map(({ expect: _expect, ...step }) => step) }
  const answer = OCM_FAMILIES.placement(question)
  if ('error' in answer) return notAdmitted !== undefined
  return recorded.every(({ expect }, i) => jsonEqual(judged(expect), judged(answer.steps[i] as Pass)))
}

function rolloutEqual({ expect, ...question }: RecordedCase): boolean {
  const { strategy: _, ...answer } = expect as { readonly strategy?: unknown }
  return jsonEqual(OCM_FAMILIES.rollout(question), answer)
}

function differing(file: string, isEqual: (one: RecordedCase) => boolean): { cases: number; ids: string[] } {
  const cases = readCases(`./ocm/${file}.jsonl.gz`)
  return { cases: cases.length, ids: cases.filter((one) => !isEqual(one)).map(({ id }) => id) }
}

test('Placements: 4,325 recorded cases of the scheduler are equal', () => {
  assert.deepEqual(differing('placement', placementEqual), { cases: 4325, ids: [] })
})

test('rollout strategies: 1,273 recorded cases are equal', () => {
  assert.deepEqual(differing('rollout', rolloutEqual), { cases: 1273, ids: [] })
})

/** Absent and empty are the same. */
const filled = (value: object) =>
  Object.fromEntries(
    Object.entries(value).filter(([, part]) => typeof part !== 'object' || Object.keys(part ?? {}).length > 0),
  )

test('clusters, sets and bindings: 301 recorded passes of controllers are equal', () => {
  const isEqual = ({ expect, ...question }: RecordedCase) =>
    jsonEqual(filled(OCM_FAMILIES.cluster(question) as object), filled(expect as object))
  assert.deepEqual(differing('cluster', isEqual), { cases: 301, ids: [] })
})
