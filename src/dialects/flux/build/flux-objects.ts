/** Objects of Flux inside a build: its own kinds, and the parts of its installation. */
import type { UnknownObject } from '../../../kinds/meta.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

/** True for kinds of Flux, for their definitions, and for the parts of an installation (`gotk-components`). */
export function isOfFlux({ apiVersion, kind, metadata }: UnknownObject): boolean {
  if (isFluxGroup(groupOf({ apiVersion }))) return true
  if (kind === 'CustomResourceDefinition') return isFluxGroup(metadata.name.slice(metadata.name.indexOf('.') + 1))
  return isInstalled(metadata.labels ?? {})
}

/** Users give `part-of: flux` to their own objects, too; the installation has its name and version besides. */
function isInstalled(labels: Readonly<Record<string, string>>): boolean {
  const of = (label: string) => labels[`app.kubernetes.io/${label}`]
  return of('part-of') === 'flux' && of('instance') !== undefined && /^v\d/.test(of('version') ?? '')
}

function isFluxGroup(group: string): boolean {
  return group.endsWith('.toolkit.fluxcd.io') || group.endsWith('.extensions.fluxcd.io')
}
