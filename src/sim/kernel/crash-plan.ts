/** Where a process is killed: around its n-th durable step, counted over the whole run. */
export interface CrashPlan {
  /** Counts from 1. */
  readonly step: number
  /** Before the effect, or after it and before anybody knows. */
  readonly when: 'before' | 'after'
  /** How long the process stays dead. */
  readonly restartAfterMs?: number
}

/** One durable step of a run. */
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
}

/** Makes a counter for a plan, or for a run without a crash. */
export function createStepCounter(plan?: CrashPlan): StepCounter {
  const steps: Step[] = []
  return {
    begin: (step) => steps.push(step),
    isPlanned: (number, when) => plan?.step === number && plan.when === when,
    steps: () => steps,
  }
}

/** Every crash of a run that took this many durable steps. */
export function crashPlans(steps: number): CrashPlan[] {
  return Array.from({ length: steps }, (_, index): CrashPlan[] => [
    { step: index + 1, when: 'before' },
    { step: index + 1, when: 'after' },
  ]).flat()
}
