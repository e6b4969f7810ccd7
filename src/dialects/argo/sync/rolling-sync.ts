/** RollingSync of an ApplicationSet: which of its Applications may start, step by step. */
import { isObject } from '../../../core/json.ts'
import { readPercent } from './read-percent.ts'

/** A step: the Applications with these labels, and how many of them may be in progress. */
export interface RollingStep {
  readonly matchExpressions: readonly {
    readonly key: string
    readonly operator: string
    readonly values: readonly string[]
  }[]
  readonly maxUpdate?: number | string
}

/** The steps of a strategy, or why it cannot be used. */
export type RollingStrategy = { readonly steps: readonly RollingStep[] } | { readonly problem: string }

/** An Application of a set. */
export interface RollingApplication {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** `Done`: its newest content is delivered and healthy. `Started`: it is on its way, or has failed. */
  readonly state: 'Done' | 'Started' | 'Waiting'
}

/** Whether an Application may start, and why not. */
export type Turn = { readonly isOpen: true } | { readonly isOpen: false; readonly message: string }

/** Reads `spec.strategy`; undefined without RollingSync. */
export function rollingStrategy(spec: Readonly<Record<string, unknown>>): RollingStrategy | undefined {
  const strategy = spec['strategy']
  if (!isObject(strategy) || strategy['type'] !== 'RollingSync') return undefined
  const { rollingSync } = strategy
  const given = isObject(rollingSync) ? rollingSync['steps'] : undefined
  if (!Array.isArray(given) || given.length === 0) return { problem: 'strategy.rollingSync.steps must have a step' }
  const steps: RollingStep[] = []
  for (const [at, step] of (given as unknown[]).entries()) {
    const read = readStep(step, `strategy.rollingSync.steps[${at}]`)
    if (typeof read === 'string') return { problem: read }
    steps.push(read)
  }
  return { steps }
}

function readStep(step: unknown, where: string): RollingStep | string {
  if (!isObject(step)) return `${where} must be a map`
  const { matchExpressions = [], maxUpdate } = step
  if (!Array.isArray(matchExpressions)) return `${where}.matchExpressions must be a list`
  const read: RollingStep['matchExpressions'][number][] = []
  for (const one of matchExpressions as unknown[]) {
    const { key, operator, values = [] } = isObject(one) ? one : {}
    if (typeof key !== 'string' || key === '') return `${where}.matchExpressions: key must be the name of a label`
    if (operator !== 'In' && operator !== 'NotIn')
      return `${where}.matchExpressions: operator must be In or NotIn, found ${JSON.stringify(operator ?? '')}`
    if (!Array.isArray(values) || !values.every((value) => typeof value === 'string'))
      return `${where}.matchExpressions: values must be a list of texts`
    read.push({ key, operator, values })
  }
  if (maxUpdate === undefined || maxUpdate === null) return { matchExpressions: read }
  if (typeof maxUpdate === 'number' && Number.isInteger(maxUpdate) && maxUpdate >= 0)
    return { matchExpressions: read, maxUpdate }
  if (typeof maxUpdate === 'string' && readPercent(maxUpdate) !== undefined)
    return { matchExpressions: read, maxUpdate }
  return `${where}.maxUpdate must be a number or a percentage such as 25%, found ${JSON.stringify(maxUpdate)}`
}

/** The step of an Application, from 0; -1 if it matches none. The first step that matches counts. */
export function stepOf(labels: Readonly<Record<string, string>>, steps: readonly RollingStep[]): number {
  return steps.findIndex(({ matchExpressions }) =>
    matchExpressions.every(({ key, operator, values }) => {
      const isIn = Object.hasOwn(labels, key) && values.includes(labels[key]!)
      return operator === 'In' ? isIn : !isIn
    }),
  )
}

/** Decides whether an Application of the set may start now. */
export function turnOf(
  own: Pick<RollingApplication, 'name' | 'labels'>,
  others: Iterable<RollingApplication>,
  strategy: RollingStrategy,
): Turn {
  const closed = (message: string): Turn => ({ isOpen: false, message })
  if ('problem' in strategy) return closed(strategy.problem)
  const { steps } = strategy
  const step = stepOf(own.labels, steps)
  if (step < 0) return closed('The labels match no step of strategy.rollingSync; sync the Application by hand')
  let members = 1
  let started = 0
  for (const { name, labels, state } of others) {
    if (name === own.name) continue
    const at = stepOf(labels, steps)
    if (at >= 0 && at < step && state !== 'Done')
      return closed(`Step ${step + 1} waits for Application ${name} of step ${at + 1}`)
    if (at !== step) continue
    members += 1
    if (state === 'Started') started += 1
  }
  const { maxUpdate } = steps[step]!
  const limit = limitOf(maxUpdate, members)
  if (limit === 0) return closed(`maxUpdate of step ${step + 1} is 0; sync the Application by hand`)
  if (started < limit) return { isOpen: true }
  return closed(`Step ${step + 1} syncs ${limit} of ${members} Applications at a time`)
}

/** A percentage is rounded down, and is at least 1 unless it is 0%. */
function limitOf(maxUpdate: RollingStep['maxUpdate'], members: number): number {
  if (maxUpdate === undefined) return members
  if (typeof maxUpdate === 'number') return maxUpdate
  const percent = readPercent(maxUpdate) ?? 0
  return percent === 0 ? 0 : Math.max(1, Math.floor((members * percent) / 100))
}
