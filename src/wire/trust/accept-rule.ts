/**
 * Rules that accept clusters without a person: one CEL expression of a join token over what the hub knows at the
 * first join.
 */
import { celEnvironment, compileCel } from '../../cel/cel.ts'
import { DYNAMIC } from '../../cel/declare-schema.ts'

/** What a rule may look at. Nothing of it is a claim of the cluster's, except its name and version. */
export interface AcceptFacts {
  readonly name: string
  /** The labels the token stamps. */
  readonly labels: Readonly<Record<string, string>>
  /** The agent's address as the listener's socket knows it; empty if unknown. */
  readonly address: string
  readonly agentVersion: string
}

const ENVIRONMENT = celEnvironment({ name: DYNAMIC, labels: DYNAMIC, address: DYNAMIC, agentVersion: DYNAMIC })

/** What is wrong with a rule; undefined when it can be used. */
export function acceptRuleProblem(rule: string): string | undefined {
  const program = compileCel(rule, ENVIRONMENT)
  return program.ok ? undefined : program.message
}

/**
 * Whether the rule says yes. A rule that fails, is too dear or says anything but true leaves the cluster to a person.
 */
export function isAcceptedBy(rule: string, facts: AcceptFacts): boolean {
  const program = compileCel(rule, ENVIRONMENT)
  if (!program.ok) return false
  const result = program.evaluate({ ...facts, labels: { ...facts.labels } })
  return result.ok && result.value === true
}
