import { nearestName } from '../../core/text/nearest-name.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Override } from '../../kinds/native/override.ts'
import { finding } from '../../plan/lint/finding.ts'
import type { FieldPath } from '../../plan/objects/managed-fields.ts'
import { keyOfObject } from '../repository/fleet-facts.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import { withPosition } from './read-definitions.ts'
import type { Definition, PlacedFinding } from './read-definitions.ts'

interface Reference {
  readonly kind: string
  readonly name: string | undefined
  readonly place: FieldPath
  readonly among: readonly KubeObject[]
}

/** Findings for references to unknown objects. */
export function referenceFindings(
  definitions: readonly Definition[],
  facts: FleetFacts,
  hasHub: boolean,
): PlacedFinding[] {
  return definitions.flatMap((definition) => {
    const { object } = definition
    const namespace = object.metadata.namespace ?? 'default'
    return referencesOf(object, facts).flatMap(({ kind, name, place, among }) => {
      if (name === undefined || among.some((one) => keyOfObject(one) === `${namespace}/${name}`)) return []
      const names = among
        .filter(({ metadata }) => (metadata.namespace ?? 'default') === namespace)
        .map(({ metadata }) => metadata.name)
      const near = nearestName(name, names)
      const where = hasHub ? 'and there is none' : 'which is not in these files'
      const message = `${object.kind} ${namespace}/${object.metadata.name} names ${kind} ${name}, ${where}`
      const more = near === undefined ? {} : { todo: `did you mean ${near}?` }
      return [withPosition(finding('missing-reference', message, { place, ...severity(hasHub), ...more }), definition)]
    })
  })
}

function severity(hasHub: boolean): { severity?: 'warning' } {
  return hasHub ? {} : { severity: 'warning' }
}

function referencesOf(object: KubeObject, facts: FleetFacts): Reference[] {
  if (object.kind === 'Override') {
    const { spec } = object as Override
    return [{ kind: 'Bundle', name: spec?.bundle, place: ['spec', 'bundle'], among: facts.bundles }]
  }
  if (object.kind !== 'Bundle') return []
  const { spec } = object as Bundle
  return [
    { kind: 'Placement', name: spec?.placement, place: ['spec', 'placement'], among: facts.placements },
    { kind: 'Source', name: spec?.source?.name, place: ['spec', 'source', 'name'], among: facts.sources },
    { kind: 'RolloutPlan', name: spec?.rollout?.plan, place: ['spec', 'rollout', 'plan'], among: facts.plans },
  ]
}
