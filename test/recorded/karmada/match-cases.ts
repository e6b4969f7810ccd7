/** Recorded questions about the policy that claims an object. */
import { PolicyClaims } from '../../../src/dialects/karmada/match/policy-claims.ts'
import type { PolicyObject, PolicyRef } from '../../../src/dialects/karmada/match/policy-claims.ts'
import type { SelectableObject } from '../../../src/dialects/karmada/resource-selector.ts'
import type { RecordedCase } from '../recorded-case.ts'

type Step =
  | { readonly event: 'template' }
  | { readonly event: 'apply'; readonly object: PolicyObject }
  | ({ readonly event: 'delete' } & PolicyRef)
  | { readonly event: 'label'; readonly labels: Readonly<Record<string, string | null>> }

type Template = SelectableObject & { readonly spec?: { readonly replicas?: number } }

const WITH_REPLICAS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'ReplicaSet'])

export function answerMatch(input: RecordedCase): unknown {
  const { template, objects, steps, gates } = input as unknown as {
    readonly template: Template
    readonly objects?: readonly PolicyObject[]
    readonly steps: readonly Step[]
    readonly gates?: Readonly<Record<string, boolean>>
  }
  const preempts = gates?.['PropagationPolicyPreemption'] ?? false
  const claims = new PolicyClaims(template, objects ?? [], { preempts })
  return {
    steps: steps.map((step) => {
      take(claims, step)
      return answerOf(claims, template)
    }),
  }
}

function take(claims: PolicyClaims, step: Step): void {
  switch (step.event) {
    case 'template':
      return claims.seeObject()
    case 'apply':
      return claims.apply(step.object)
    case 'delete':
      return claims.delete(step)
    case 'label':
      return claims.changeLabels(step.labels)
  }
}

function answerOf(claims: PolicyClaims, { kind, metadata, spec }: Template): unknown {
  const { claim, binding, isWaiting, problem, ignored } = claims.state
  const refOf = ({ kind: policyKind, namespace, name }: PolicyRef): PolicyRef => ({
    kind: policyKind,
    ...(namespace !== undefined && { namespace }),
    name,
  })
  const { namespace } = metadata
  return {
    claims: claim ? [refOf(claim)] : [],
    ...(binding && {
      binding: {
        kind: namespace === undefined ? 'ClusterResourceBinding' : 'ResourceBinding',
        ...(namespace !== undefined && { namespace }),
        name: `${metadata.name}-${kind.toLowerCase()}`,
        claimedBy: binding.claimedBy ? [refOf(binding.claimedBy)] : [],
        ...(WITH_REPLICAS.has(kind) && { replicas: spec?.replicas ?? 1 }),
        placement: binding.placement,
      },
    }),
    ...(isWaiting && { waiting: true }),
    ...(ignored && { ignored }),
    ...(problem !== undefined && { errors: [problem] }),
  }
}
