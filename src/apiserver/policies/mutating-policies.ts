/** MutatingAdmissionPolicies: what they change of an object before it is validated. */
import { compact } from '../../core/compact.ts'
import { API_REASONS, ApiError } from '../../core/errors.ts'
import type { ApiCause } from '../../core/errors.ts'
import { jsonClone, jsonEqual } from '../../core/json.ts'
import type { MutatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { AdmissionRequest, Mutation } from '../server/admission.ts'
import { beginEvaluation, errorText, OVER_BUDGET } from '../../plan/policy/rules/evaluate-rule.ts'
import type { MatchInput } from '../../plan/policy/rules/match.ts'
import {
  policiesMatching,
  isExempt,
  toMatchInput,
  paramsOf,
  evaluateWithAuthorizer,
  rememberMismatch,
} from './evaluation.ts'
import type { PolicyPorts } from './evaluation.ts'
import { applyMutation, MutationProblem } from './mutations.ts'
import type { CompiledMutations, Mutator } from './mutations.ts'
import type { KnownPolicy, PolicyBinding, PolicyCache } from './policy-cache.ts'

type MutatingPolicy = KnownPolicy<MutatingAdmissionPolicy, CompiledMutations>

/** The mutating policies in force. */
export type MutatingPolicies = PolicyCache<MutatingAdmissionPolicy, CompiledMutations>

/** Changes objects as the policies say. */
export function mutatingPolicyAdmission(cache: MutatingPolicies, ports: PolicyPorts): Mutation {
  return async (request) => {
    const { object } = request
    const bound = isExempt(request) || !object ? [] : cache.bound()
    if (!object || bound.length === 0) return []
    const matched = await toMatchInput(ports, request)
    const first = await run({ matched, ports }, policiesMatching(bound, matched))
    // Policies with reinvocationPolicy IfNeeded are evaluated again when a later policy changed the object.
    const again = first.done.filter(({ policy }) => policy.policy.spec?.reinvocationPolicy === 'IfNeeded')
    const second = first.changed && again.length > 0 ? await run({ matched, ports }, again) : undefined
    const [problem] = [...first.problems, ...(second?.problems ?? [])]
    if (problem !== undefined) throw refusalOf(request, problem)
    return []
  }
}

interface Asking {
  readonly matched: MatchInput & { readonly request: AdmissionRequest }
  readonly ports: PolicyPorts
}

interface Invocation {
  readonly policy: MutatingPolicy
  readonly binding: PolicyBinding
}

interface Ran {
  readonly done: readonly Invocation[]
  readonly problems: readonly string[]
  readonly changed: boolean
}

async function run(asking: Asking, invocations: readonly Invocation[]): Promise<Ran> {
  const problems: string[] = []
  const done: Invocation[] = []
  let changed = false
  for (const invocation of invocations) {
    const { policy, binding } = invocation
    const fail = (message: string) => {
      if (policy.policy.spec?.failurePolicy === 'Ignore') return
      const names = `policy '${policy.policy.metadata.name}' with binding '${binding.metadata.name}'`
      problems.push(`${names} denied request: ${message}`)
    }
    const params = await paramsOf({ ...invocation, ...asking }, (why) => fail(`failed to configure binding: ${why}`))
    for (const param of params) {
      const outcome = await invoke(asking, policy, param)
      if (outcome.problem !== undefined) fail(outcome.problem)
      if (outcome.matches) done.push(invocation)
      changed ||= outcome.changed
    }
  }
  return { done, problems, changed }
}

interface Outcome {
  readonly matches: boolean
  readonly changed: boolean
  readonly problem?: string
}

/** Evaluates a policy with a parameter. Its mutations run in order, and each sees the result of the mutation before. */
async function invoke(
  { matched, ports }: Asking,
  { compiled, problem }: MutatingPolicy,
  param: UnknownObject | undefined,
): Promise<Outcome> {
  if (!compiled) return { matches: true, changed: false, problem: problem ?? 'cannot be compiled' }
  const { request } = matched
  const object = request.object!
  const answered = <T>(evaluate: (ask: Parameters<Parameters<typeof evaluateWithAuthorizer>[2]>[0]) => T) =>
    evaluateWithAuthorizer(ports.authorizer, request, evaluate)
  const mismatched = rememberMismatch(matched, param)
  const { matches, error } = await answered((ask) =>
    beginEvaluation(compiled, matched, { param, ask, mismatched }).match(),
  )
  if (error !== undefined) return { matches: false, changed: false, problem: error }
  if (!matches) return { matches: false, changed: false }
  const before = jsonClone(object)
  let failed: string | undefined
  for (const mutator of compiled.mutators) {
    const next = await answered((ask) => {
      const { run: evaluate, isOverBudget } = beginEvaluation(compiled, matched, { param, ask, mismatched })
      return change({ request, mutator, evaluate, isOverBudget })
    })
    if (typeof next === 'string') failed ??= next
    else become(object, next)
  }
  return compact({ matches: true, changed: !jsonEqual(before, object), problem: failed })
}

interface Changing extends Pick<ReturnType<typeof beginEvaluation>, 'isOverBudget'> {
  readonly request: AdmissionRequest
  readonly mutator: Mutator
  readonly evaluate: ReturnType<typeof beginEvaluation>['run']
}

/** The changed object, or why it cannot be changed. */
function change({ request, mutator, evaluate, isOverBudget }: Changing): UnknownObject | string {
  const result = evaluate(mutator.program)
  if (isOverBudget()) return OVER_BUDGET
  if (!result.ok) return errorText(mutator.program, result.error)
  try {
    return applyMutation(request.kind, request.object!, mutator, result.value)
  } catch (caught) {
    if (caught instanceof MutationProblem) return caught.message
    throw caught
  }
}

/** Replaces the content in place, so that every holder of the object sees the change. */
function become(object: UnknownObject, next: UnknownObject): void {
  for (const field of Object.keys(object)) if (!Object.hasOwn(next, field)) delete object[field]
  Object.assign(object, next)
}

function refusalOf({ kind, object }: AdmissionRequest, message: string): ApiError {
  const details = compact({
    name: object?.metadata.name ?? '',
    group: kind.group === '' ? undefined : kind.group,
    kind: kind.plural,
    causes: [{ message } as ApiCause],
  })
  return new ApiError('Invalid', message, details, { code: API_REASONS.Forbidden })
}
