/** A bundle's rules for its objects in CEL and Lua: when an object is healthy, and which values the agent reports. */
import { celEnvironment, compileCel } from '../../cel/cel.ts'
import type { CelProgram } from '../../cel/cel.ts'
import { DYNAMIC } from '../../cel/declare-schema.ts'
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { BundleOptions, ObjectSelector } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { redactSecret } from '../../kinds/redact-secret.ts'
import { ARGO_STATES, healthOfVerdict } from './argo/verdict.ts'
import type { ArgoState } from './argo/verdict.ts'
import { profileHealth } from './health-profiles.ts'
import type { ProfileHealth } from './health-profiles.ts'
import { celText, compileFeedback } from './object-feedback.ts'
import type { Compile, FeedbackRules, ObjectFeedback } from './object-feedback.ts'
import { healthOf } from './object-health.ts'
import type { Health } from './object-health.ts'
import { selects } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** The rules for an object. */
export interface ObjectRules {
  /** The object's health does not count. */
  readonly isIgnored: boolean
  /** Conditions that match all fields of an entry do not count. */
  readonly ignoredConditions?: readonly Readonly<Record<string, string>>[]
  readonly health: readonly HealthRule[]
  /** The health of the kind by the profile of the bundle, where it is not the native one. */
  readonly profile?: ProfileHealth
  readonly feedback: FeedbackRules
}

/** A script of a health rule, compiled. */
type CompiledScript =
  | {
      readonly ok: true
      check(
        object: unknown,
      ): { readonly status: string; readonly message: string } | { readonly error: string } | undefined
    }
  | { readonly ok: false; readonly problem: string }

/** Compiles scripts of health rules; the interpreter comes from the caller. */
export type CompileScript = (source: string) => CompiledScript

interface HealthRule {
  readonly failed?: CelProgram
  readonly progressing?: CelProgram
  readonly ready?: CelProgram
  readonly message?: CelProgram
  readonly script?: Extract<CompiledScript, { ok: true }>
}

/** Health, and what the rules report, of an object. */
export interface HealthVerdict extends ObjectFeedback {
  readonly health: Health
}

/** The compiled rules, or the problem of an expression. */
export type CompiledHealthRules =
  | { readonly ok: true; readonly rulesFor: (id: ObjectId) => ObjectRules | undefined }
  | { readonly ok: false; readonly problem: string }

const VALUE_CHARS = 1024

/** Compiles the rules. Without an interpreter, scripts are not checked, and nothing can be judged with them. */
export function compileHealthRules(options: BundleOptions, compileScript?: CompileScript): CompiledHealthRules {
  const environment = celEnvironment({ object: DYNAMIC })
  const problems: string[] = []
  const compile: Compile = (source, where, variables = environment) => {
    if (source === undefined) return undefined
    const program = compileCel(source, variables)
    if (program.ok) return program
    problems.push(`${where}: ${program.problems.map(({ message }) => message).join('; ')}`)
    return undefined
  }
  const scriptOf = (source: string, at: string): HealthRule['script'] => {
    const script = compileScript?.(source)
    if (script?.ok === false) problems.push(`${at}.lua: ${script.problem}`)
    return script?.ok ? script : undefined
  }
  const health = (options.health ?? []).map((rule, index) => {
    const at = `health[${index}]`
    const { failed, progressing, ready, message } = rule
    const programs = {
      failed: compile(failed, `${at}.failed`),
      progressing: compile(progressing, `${at}.progressing`),
      ready: compile(ready, `${at}.ready`),
      message: compile(message, `${at}.message`),
      script: rule.lua === undefined ? undefined : scriptOf(rule.lua, at),
    }
    if (rule.lua !== undefined && [failed, progressing, ready, message].some((one) => one !== undefined)) {
      problems.push(`${at}: lua cannot be combined with failed, progressing, ready or message`)
    }
    const given = Object.entries(programs).filter(([, program]) => program !== undefined)
    const compiled: HealthRule = Object.fromEntries(given)
    return { rule, compiled }
  })
  const feedback = compileFeedback(options, compile)
  if (problems.length > 0) return { ok: false, problem: problems.join('; ') }
  return {
    ok: true,
    rulesFor: (id) => {
      const matching = health.filter(({ rule }) => selects(rule, id))
      const reported = feedback.rulesFor(id)
      const ignored = options.ignoreConditions ?? []
      const profile = profileHealth(options.healthProfile, id)
      if (matching.length === 0 && !reported.hasRules && ignored.length === 0 && !profile) return undefined
      return compact({
        isIgnored: matching.some(({ rule }) => rule.ignore === true),
        ignoredConditions: ignored.length === 0 ? undefined : ignored,
        health: matching.map(({ compiled }) => compiled),
        profile,
        feedback: reported,
      })
    },
  }
}

/** Judges a live object; a rule whose evaluation fails counts as Progressing, with the error as message. */
export function applyHealthRules(live: UnknownObject, rules: ObjectRules): HealthVerdict {
  // Results of rules are reported to the hub, so rules see the keys of a Secret, but never its values.
  const object = withoutConditions(redactSecret(live), rules.ignoredConditions ?? [])
  return {
    health: rules.isIgnored ? { state: 'Ready', message: '' } : healthBy(object, rules),
    ...rules.feedback.evaluate(object),
  }
}

function withoutConditions(object: UnknownObject, ignored: readonly Readonly<Record<string, string>>[]): UnknownObject {
  const { status } = object
  if (ignored.length === 0 || !isObject(status) || !Array.isArray(status['conditions'])) return object
  const conditions = (status['conditions'] as unknown[]).filter(
    (condition) =>
      !isObject(condition) ||
      !ignored.some((fields) => Object.entries(fields).every(([field, value]) => condition[field] === value)),
  )
  return { ...object, status: { ...status, conditions } }
}

function healthBy(object: UnknownObject, { health, profile = healthOf }: ObjectRules): Health {
  const given = healthOf(object)
  // A status of an older generation says nothing about the present one, so no rule reads it.
  if (given.isStale || object.metadata.deletionTimestamp !== undefined) return given
  for (const rule of health) {
    const found = rule.script ? healthByScript(object, rule.script) : healthByRule(object, rule)
    if (found) return found
  }
  return profile(object)
}

function healthByScript(object: UnknownObject, script: Extract<CompiledScript, { ok: true }>): Health {
  const checked = script.check(object)
  // As in Argo CD, a check that returns nothing gives the object no health, and it does not count.
  if (!checked) return { state: 'Ready', message: '' }
  if ('error' in checked) return { state: 'Progressing', message: cut(`its health check failed: ${checked.error}`) }
  const { status, message } = checked
  if (!isArgoState(status)) {
    return { state: 'Progressing', message: cut(`its health check returned the status ${JSON.stringify(status)}`) }
  }
  return healthOfVerdict({ status, message: cut(message) })
}

function isArgoState(status: string): status is ArgoState {
  return (ARGO_STATES as readonly string[]).includes(status)
}

function cut(text: string): string {
  return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS - 1)}…`
}

/**
 * The options without rules that match no object. Rules of `argocd-cm` are in the Bundles of all Applications, so that
 * a changed rule must not change the sets that have none of its objects.
 */
export function withUsedRules(options: BundleOptions, objects: readonly ObjectId[]): BundleOptions {
  if (options.healthProfile !== 'Argo') return options
  const { health = [], ignore = [], ...rest } = options
  const isUsed = (rule: ObjectSelector): boolean => objects.some((id) => selects(rule, id))
  const used = { health: health.filter(isUsed), ignore: ignore.filter(isUsed) }
  return {
    ...rest,
    ...compact({
      health: used.health.length === 0 ? undefined : used.health,
      ignore: used.ignore.length === 0 ? undefined : used.ignore,
    }),
  }
}

function healthByRule(object: UnknownObject, rule: HealthRule): Health | undefined {
  const say = (fallback: string) => (rule.message ? valueOf(rule.message, object) : fallback)
  for (const state of ['failed', 'progressing'] as const) {
    const answer = holds(rule[state], object)
    if (typeof answer === 'string') return { state: 'Progressing', message: answer }
    if (answer)
      return {
        state: state === 'failed' ? 'Failed' : 'Progressing',
        message: say(`its health rule "${state}" is true`),
      }
  }
  if (!rule.ready) return undefined
  const answer = holds(rule.ready, object)
  if (answer === true) return { state: 'Ready', message: '' }
  return {
    state: 'Progressing',
    message: typeof answer === 'string' ? answer : say('its health rule "ready" is not true yet'),
  }
}

function holds(program: CelProgram | undefined, object: UnknownObject): boolean | string {
  if (!program) return false
  const result = program.evaluate({ object })
  if (!result.ok) return `its health rule ${program.source} failed: ${result.error}`
  return result.value === true
}

function valueOf(program: CelProgram, object: UnknownObject): string {
  const result = program.evaluate({ object })
  return cut(result.ok ? celText(result.value) : `error: ${result.error}`)
}
