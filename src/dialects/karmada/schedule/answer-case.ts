// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** A scheduling question as one object, for example a line of `flotilla karmada schedule --batch`. */
import type { Static } from 'typebox'
import { firstSchemaProblem } from '../../../core/schema/check-schema.ts'
import { flag, listOf, mapOf, object, optional } from '../../../kinds/schema/schema-builders.ts'
import { KarmadaBindingSchema, KarmadaClusterSchema } from '../types.ts'
import { snapshotOf } from './cluster-snapshot.ts'
import { scheduleBinding } from './schedule-binding.ts'
import type { ScheduleResult } from './schedule-binding.ts'

/** Clusters, a binding, other bindings, and the options that differ from Karmada's defaults. */
const Question = object({
  clusters: optional(listOf(KarmadaClusterSchema, { max: 100_000 })),
  binding: KarmadaBindingSchema,
  bindings: optional(listOf(KarmadaBindingSchema, { max: 100_000 })),
  gates: optional(mapOf(flag(), { max: 1000 })),
  options: optional(object({ enableEmptyWorkloadPropagation: optional(flag()) })),
})

/** The decision for a question, or why there is none. */
export function answerScheduleCase(question: unknown): ScheduleResult | { readonly error: string } {
  const problem = firstSchemaProblem(Question, question)
  if (problem) return { error: [problem.path.join('.'), problem.message].filter((part) => part !== '').join(': ') }
  const { clusters = [], binding, bindings = [], gates = {}, options = {} } = question as Static<typeof Question>
  return scheduleBinding({
    binding,
    clusters: clusters.map(snapshotOf),
    others: bindings,
    options: {
      workloadAffinity: gates['WorkloadAffinity'] ?? false,
      multiplePodTemplates: gates['MultiplePodTemplatesScheduling'] ?? false,
      keepsEmptyTargets: options.enableEmptyWorkloadPropagation ?? false,
    },
  })
}
