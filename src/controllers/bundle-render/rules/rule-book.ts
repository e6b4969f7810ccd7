// Tested by src/controllers/bundle-render/rules/rules.sim.test.ts
/** The rules on rendered content that are in force, compiled once per change. */
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import type { Override } from '../../../kinds/native/override.ts'
import { contentRules } from '../../../plan/policy/rules/content-rules.ts'
import type { ContentRule } from '../../../plan/policy/rules/content-rules.ts'
import type { Caches } from '../../caches/caches.ts'

/** The rules, and a digest that changes with them. */
export interface RuleBook {
  readonly rules: readonly ContentRule[]
  readonly digest: Digest
}

/** Reads the rules from the caches; compiles them again only after a change of a policy or binding. */
export function createRuleBook(caches: Pick<Caches, 'rules' | 'ruleBindings'>): () => RuleBook {
  let version = -1
  let changes = 0
  let book: RuleBook | undefined
  const note = () => void (changes += 1)
  caches.rules.onChange(note)
  caches.ruleBindings.onChange(note)
  return () => {
    if (book && version === changes) return book
    version = changes
    const rules = contentRules(caches.rules.lister.list(), caches.ruleBindings.lister.list())
    book = { rules, digest: digestOfRules(rules) }
    return book
  }
}

function digestOfRules(rules: readonly ContentRule[]): Digest {
  return digestOfJson(
    rules.map(({ policy, binding, controls }) => [
      policy.policy.metadata.name,
      policy.policy.spec ?? {},
      binding.spec ?? {},
      controls,
    ]),
  )
}

/**
 * What changes the result of rendering: the rules that deny, and the exceptions. Undefined without a rule that denies,
 * so that other rules render nothing again.
 */
export function denialDigest({ rules }: RuleBook, exceptions: readonly Override[]): Digest | undefined {
  const denying = rules.filter(({ action }) => action === 'Deny')
  if (denying.length === 0) return undefined
  return digestOfJson([
    digestOfRules(denying),
    exceptions.map(({ spec: { reason: _reason, owner: _owner, ticket: _ticket, ...spec } }) => spec),
  ])
}
