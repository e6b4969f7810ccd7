/** Where a process is killed: around its n-th durable step, counted over the whole run. */
export interface CrashPlan {
  /** Counts from 1. */
  readonly step: number
  /** Before the effect, or after the effect and before its caller knows. */
  readonly when: 'before' | 'after'
  /** Also around every so many steps after that one, as long as the world's focus lasts. */
  readonly every?: number
  /** How long the process stays dead. */
  readonly restartAfterMs?: number
}

/** A durable step of a run. */
export interface Step {
  readonly process: string
  readonly name: string
}

/** Counts durable steps and says when the plan's moment has come. */
export interface StepCounter {
  /** Notes a step and returns its number. */
  begin(step: Step): number
  isPlanned(number: number, when: CrashPlan['when']): boolean
  steps(): readonly Step[]
  /** The steps around which processes were killed. */
  crashes(): readonly Step[]
}

/** Makes a counter for a plan, or for a run without a crash. */
export function createStepCounter(plan?: CrashPlan, isInFocus: () => boolean = () => true): StepCounter {
  const steps: Step[] = []
  const crashes: Step[] = []
  const isDue = (number: number): boolean => {
    if (plan?.every === undefined) return plan?.step === number
    return isInFocus() && number >= plan.step && (number - plan.step) % plan.every === 0
  }
  return {
    begin: (step) => steps.push(step),
    isPlanned: (number, when) => {
      if (plan?.when !== when || !isDue(number)) return false
      crashes.push(steps[number - 1]!)
      return true
    },
    steps: () => steps,
    crashes: () => crashes,
  }
}

/** Every crash of a run that took this many durable steps. */
export function crashPlans(steps: number): CrashPlan[] {
  return Array.from({ length: steps }, (_, index): CrashPlan[] => [
    { step: index + 1, when: 'before' },
    { step: index + 1, when: 'after' },
  ]).flat()
}
