// Tested by src/controllers/bundle-render/rules/rules.sim.test.ts
/** The condition RulesMet: what rules on rendered content find in the released content. */
import type { ClusterInputs } from '../../../core/cluster-inputs.ts'
import { matchesReads } from '../../../core/cluster-inputs.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Draft } from '../../../engine/reconciler.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { exceptionsInForce } from '../../../plan/policy/rules/rule-exceptions.ts'
import { describeFinding, judgeContent } from '../../../plan/policy/rules/content-rules.ts'
import type { ContentQuestion, RuleVerdict } from '../../../plan/policy/rules/content-rules.ts'
import type { ExistingRelease } from '../../../plan/release/decide-release.ts'
import type { SelectedCluster } from '../../../plan/release/release-content.ts'
import { contentFor } from '../../../plan/release/variants.ts'
import type { LintPorts } from '../lint.ts'
import { objectsOfSet } from '../lint.ts'
import type { BundleRenderPorts } from '../ports.ts'
import { DENIED } from './deny-content.ts'

const MOST_SHOWN = 5
const MOST_CHARACTERS = 4096
const MOST_KEPT = 1024
/** More objects than a set of a usual Bundle; the remaining objects are said to be unknown. */
const MOST_OBJECTS = 10_000

/** The ports of the condition. */
export interface RuleViewPorts extends Pick<BundleRenderPorts, 'ruleBook' | 'overridesOf'> {
  readonly sets: LintPorts
  /** Verdicts about sets, by the set, the rules, the exceptions and the Bundle. */
  readonly known: Map<string, RuleVerdict[]>
}

interface Tally {
  /** The text of each finding with its number of clusters. */
  readonly found: Map<string, { clusters: number; readonly rank: number }>
  readonly excepted: Set<string>
  denied: number
  inCluster: number
  judged: number
}

/** Sets RulesMet for the content of a Release; without rules the condition is removed. */
export async function showRules(
  { next, conditions }: Draft<Bundle>,
  { release, selected, now }: { release: ExistingRelease; selected: readonly SelectedCluster[]; now: number },
  ports: RuleViewPorts,
): Promise<void> {
  const { rules, digest } = ports.ruleBook()
  if (rules.length === 0 || selected.length === 0) return conditions.remove('RulesMet')
  const key = keyOf(next)
  const exceptions = exceptionsInForce(ports.overridesOf(key), now)
  const origin = { bundle: key, placement: next.spec.placement }
  const version = digestOfJson([digest, key, next.spec.placement, exceptions.map(({ spec }) => spec)])
  const tally: Tally = { found: new Map(), excepted: new Set(), denied: 0, inCluster: 0, judged: 0 }
  for (const { inputs } of selected) {
    const content = contentFor(release, inputs)
    if (content.kind === 'Problem' && content.problem.includes(DENIED)) tally.denied += 1
    if (content.kind !== 'Set') continue
    const question = { origin, rules, exceptions }
    const verdict = await verdictOf(content.set, { question, version, inputs }, ports)
    if (verdict) count(tally, verdict)
    else tally.inCluster += 1
  }
  show(conditions, rules.length, tally)
}

interface Asked {
  readonly question: Omit<ContentQuestion, 'objects'>
  readonly version: Digest
  readonly inputs: ClusterInputs
}

/** Undefined for content that agents render. */
async function verdictOf(
  set: Digest,
  { question, version, inputs }: Asked,
  { known, sets }: RuleViewPorts,
): Promise<RuleVerdict | undefined> {
  const key = `${set} ${version}`
  const verdicts = known.get(key) ?? []
  const same = verdicts.find(({ reads }) => matchesReads(inputs, reads))
  if (same) return same
  const objects = await objectsOfSet(set, sets, MOST_OBJECTS)
  if (!objects) return undefined
  const verdict = judgeContent({ ...question, objects }, inputs)
  if (!known.has(key) && known.size >= MOST_KEPT) known.clear()
  known.set(key, [...verdicts, verdict].slice(-MOST_KEPT))
  return verdict
}

const RANK = { Deny: 0, Warn: 1, Audit: 2 } as const

function count(tally: Tally, { findings }: RuleVerdict): void {
  tally.judged += 1
  for (const finding of findings) {
    const text = describeFinding(finding)
    if (finding.exception) {
      tally.excepted.add(text)
      continue
    }
    const known = tally.found.get(text) ?? { clusters: 0, rank: RANK[finding.action] }
    known.clusters += 1
    tally.found.set(text, known)
  }
}

function show(conditions: Draft<Bundle>['conditions'], rules: number, tally: Tally): void {
  const { found, excepted, denied, inCluster, judged } = tally
  const texts = [...found]
    .toSorted(([a, { rank: first }], [b, { rank: second }]) => first - second || (a < b ? -1 : 1))
    .map(([text, { clusters }]) => `${text} on ${plural(clusters, 'cluster')}`)
  const refused =
    denied === 0 ? [] : [`The content of ${plural(denied, 'cluster')} is denied; see the condition Rendered`]
  const unseen = inCluster === 0 ? [] : [`The content of ${plural(inCluster, 'cluster')} is rendered there, unseen`]
  const others = texts.length > MOST_SHOWN ? [`and ${texts.length - MOST_SHOWN} more`] : []
  const kept = excepted.size === 0 ? [] : [...excepted].sort().slice(0, MOST_SHOWN)
  const rest = [...unseen, ...kept]
  const many = plural(rules, 'rule is', 'rules are')
  if (denied === 0 && texts.length === 0 && inCluster === 0) {
    if (judged === 0) return conditions.remove('RulesMet')
    const reason = kept.length > 0 ? 'Excepted' : 'Met'
    const how = kept.length > 0 ? 'with exceptions' : `on ${plural(judged, 'cluster')}`
    return conditions.set('RulesMet', 'True', reason, sentences([`${many} met ${how}`, ...kept]))
  }
  const status = denied > 0 || texts.length > 0 ? 'False' : 'Unknown'
  const reason = denied > 0 ? 'Denied' : texts.length > 0 ? 'NotMet' : 'RenderedInCluster'
  conditions.set('RulesMet', status, reason, sentences([...refused, ...texts.slice(0, MOST_SHOWN), ...others, ...rest]))
}

function sentences(parts: readonly string[]): string {
  return `${parts.join('. ')}.`.slice(0, MOST_CHARACTERS)
}
