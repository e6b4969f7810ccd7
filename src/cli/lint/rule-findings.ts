// Tested by src/cli/commands/preview/validate.test.ts.
/** Findings for rendered content that does not meet the rules of the hub and of the files. */
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { finding } from '../../plan/lint/finding.ts'
import type { Severity } from '../../plan/lint/finding.ts'
import { contentRules, describeFinding, judgeForClusters } from '../../plan/policy/rules/content-rules.ts'
import type { ContentRule, RuleFinding } from '../../plan/policy/rules/content-rules.ts'
import { exceptionsInForce } from '../../plan/policy/rules/rule-exceptions.ts'
import { clusterInputsOf } from '../../plan/release/variants.ts'
import { listAll } from '../api/flotilla-resources.ts'
import { keyOfObject } from '../repository/fleet-facts.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import type { BundleContent } from './lint-bundle.ts'
import type { PlacedFinding } from './read-definitions.ts'

/** Policies and their bindings. */
export interface KnownPolicies {
  readonly policies: readonly ValidatingAdmissionPolicy[]
  readonly bindings: readonly ValidatingAdmissionPolicyBinding[]
}

/** Reads the policies of a hub; undefined when the caller may not list them. */
export async function readPolicies(client: Client): Promise<KnownPolicies | undefined> {
  try {
    return {
      policies: await listAll(client, ValidatingAdmissionPolicy),
      bindings: await listAll(client, ValidatingAdmissionPolicyBinding),
    }
  } catch (caught) {
    if (isApiError(caught, 'Forbidden', 'NotFound')) return undefined
    throw caught
  }
}

/** The warning for rules that the caller may not read. */
export const UNREAD_RULES =
  'rules on rendered content were not checked: you may not list validatingadmissionpolicies and their bindings'

/** The rules on rendered content. A policy or binding of the files takes the place of the hub's. */
export function rulesWith(known: KnownPolicies | undefined, objects: readonly UnknownObject[]): readonly ContentRule[] {
  const over = <T extends { readonly metadata: { readonly name: string } }>(
    kind: string,
    present: readonly T[],
  ): T[] => {
    const own = objects.filter(
      (one) => one.kind === kind && one.apiVersion.startsWith('admissionregistration.k8s.io/'),
    ) as unknown as T[]
    const names = new Set(own.map(({ metadata }) => metadata.name))
    return [...present.filter(({ metadata }) => !names.has(metadata.name)), ...own]
  }
  return contentRules(
    over('ValidatingAdmissionPolicy', known?.policies ?? []),
    over('ValidatingAdmissionPolicyBinding', known?.bindings ?? []),
  )
}

/** What rules find in the content of a Bundle, and on which clusters; the first of them first. */
export interface FoundByRules {
  readonly finding: RuleFinding
  readonly clusters: readonly string[]
}

/** Content of a Bundle for clusters. */
interface RuledContent {
  readonly objects: readonly UnknownObject[]
  readonly clusters: readonly ClusterInputs[]
}

/** Evaluates the rules for the contents of a Bundle. An equal finding for several clusters is one. */
export function foundByRules(
  bundle: Bundle,
  contents: readonly RuledContent[],
  { rules, facts }: { readonly rules: readonly ContentRule[]; readonly facts: FleetFacts },
): readonly FoundByRules[] {
  if (rules.length === 0) return []
  const key = keyOfObject(bundle)
  const own = facts.overrides.filter((one) => `${one.metadata.namespace ?? 'default'}/${one.spec.bundle}` === key)
  const exceptions = exceptionsInForce(own, systemClock.now())
  const origin = { bundle: key, placement: bundle.spec.placement }
  const byText = new Map<string, { readonly finding: RuleFinding; readonly clusters: string[] }>()
  for (const { objects, clusters } of contents) {
    for (const verdict of judgeForClusters({ origin, objects, rules, exceptions }, clusters)) {
      const names = verdict.clusters.flatMap(({ name }) => (name === '' ? [] : [name]))
      for (const one of verdict.findings) {
        const text = `${one.action} ${describeFinding(one)}`
        const known = byText.get(text)
        if (known) known.clusters.push(...names)
        else byText.set(text, { finding: one, clusters: [...names] })
      }
    }
  }
  return [...byText.values()]
}

const SEVERITY: Readonly<Record<RuleFinding['action'], Severity>> = { Deny: 'error', Warn: 'warning', Audit: 'note' }

/** The findings about the contents of Bundles, at the place of the object. An excepted finding is a note. */
export function ruleFindings(
  contents: readonly BundleContent[],
  about: {
    readonly rules: readonly ContentRule[]
    readonly facts: FleetFacts
    readonly bundleOf: (key: string) => Bundle | undefined
    readonly unknown: ClusterInputs
  },
): PlacedFinding[] {
  const byName = new Map(about.facts.clusters.map((cluster) => [cluster.metadata.name, clusterInputsOf(cluster)]))
  return contents.flatMap((content) => {
    const bundle = about.bundleOf(content.bundle)
    if (!bundle) return []
    const placed = content.placed.map(({ objects, clusters }) => ({
      objects,
      clusters: clusters.length === 0 ? [about.unknown] : clusters.flatMap((name) => byName.get(name) ?? []),
    }))
    return foundByRules(bundle, placed, about).map(({ finding: found, clusters }) => {
      const severity = found.exception ? 'note' : SEVERITY[found.action]
      const on = clusters.length === 0 ? '' : `, on ${nameSome(clusters)}`
      return content.locate(
        finding('rule-not-met', `Bundle ${content.bundle}: ${describeFinding(found)}${on}`, { severity }),
        found.object,
      )
    })
  })
}
