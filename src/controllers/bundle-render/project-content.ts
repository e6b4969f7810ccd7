/** What the Project of a Bundle's namespace says about its executor and its rendered content. */
import type { Digest } from '../../core/crypto/digest.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { contentRefusals, refusalMessage } from '../../plan/projects/decide.ts'
import { allLimitsOf, decideExecutor } from '../../plan/projects/limits.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { BundleRenderPorts } from './ports.ts'

type ProjectPorts = Pick<BundleRenderPorts, 'projectOf' | 'getBlob'>

/** The Bundle with the executor that the Project gives it; its own executor was allowed before. */
export function withExecutor(bundle: Bundle, { projectOf }: Pick<ProjectPorts, 'projectOf'>): Bundle {
  const { project } = projectOf(bundle.metadata.namespace ?? '')
  if (!project) return bundle
  const { executor, refusal } = decideExecutor(allLimitsOf(project), bundle.spec.executor)
  if (refusal !== undefined || executor === bundle.spec.executor || !executor) return bundle
  return { ...bundle, spec: { ...bundle.spec, executor: { ...executor } } }
}

/** Takes a rendering of the Project of a Bundle; throws Waiting while the renderings of this minute are used up. */
export function takeRendering(
  bundle: string,
  { projectOf, renderQuota }: Pick<BundleRenderPorts, 'projectOf' | 'renderQuota'>,
  now: number,
): void {
  const { project } = projectOf(bundle.slice(0, bundle.indexOf('/')))
  const waitMs = project ? renderQuota.take(project, now) : 0
  if (!project || waitMs === 0) return
  const limit = project.spec.quotas?.rendersPerMinute
  const message = `Project ${project.metadata.name}: spec.quotas.rendersPerMinute is ${limit}, and the Project has used it up. It is rendered in ${Math.ceil(waitMs / 1000)} s.`
  throw new Waiting('RenderQuota', message, waitMs)
}

/**
 * Throws Stalled when the Project refuses objects of a Release: a new Release is not made, and a Release that exists is
 * frozen, because the Project has changed since.
 */
export async function refuseContent(
  { metadata }: Bundle,
  release: ExistingRelease,
  ports: ProjectPorts,
  isNew: boolean,
): Promise<void> {
  const { project } = ports.projectOf(metadata.namespace ?? '')
  if (!project) return
  const { kinds, targetNamespaces } = allLimitsOf(project)
  if (!kinds && !targetNamespaces) return
  for (const set of setsOf(release)) {
    const bytes = await ports.getBlob(set)
    if (!bytes) continue
    const { objects, render } = parseObjectSet(bytes)
    // The agent checks content that it renders.
    const lines = render ? [] : contentRefusals(project, objects)
    if (lines.length === 0) continue
    const message = refusalMessage({ reason: 'ProjectRefuses', lines })
    if (isNew)
      throw new Stalled('ProjectRefuses', `${message} The content is not released; clusters keep what they run.`)
    throw new Stalled(
      'ProjectFreezes',
      `${message} Release ${release.name} is frozen: clusters keep what they run and receive no change.`,
    )
  }
}

function setsOf({ set, variants = [] }: ExistingRelease): ReadonlySet<Digest> {
  return new Set([set, ...variants.flatMap((variant) => variant.set ?? [])])
}
