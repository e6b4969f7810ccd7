// Tested by src/cli/commands/preview/validate.test.ts.
/** Findings for objects of files, and for the content of Bundles, that the Project of their namespace refuses. */
import { compact } from '../../core/compact.ts'
import { finding } from '../../plan/lint/finding.ts'
import { contentRefusals, definitionRefusals } from '../../plan/projects/decide.ts'
import type { Definition as ProjectDefinition } from '../../plan/projects/decide.ts'
import { indexProjects, projectOf } from '../../plan/projects/project-of.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import type { BundleContent } from './lint-bundle.ts'
import { withPosition } from './read-definitions.ts'
import type { Definition, PlacedFinding } from './read-definitions.ts'

const JUDGED: ReadonlySet<string> = new Set(['Source', 'Bundle', 'Placement'])

/** Asks the Projects; without Projects nothing is known and nothing is found. */
export function projectFindings(
  definitions: readonly Definition[],
  contents: readonly BundleContent[],
  { projects }: Pick<FleetFacts, 'projects'>,
): PlacedFinding[] {
  if (!projects) return []
  const index = indexProjects(projects)
  const own = definitions.flatMap((definition) => {
    const { object } = definition
    if (!JUDGED.has(object.kind)) return []
    const namespace = object.metadata.namespace ?? 'default'
    const { project, refusal } = projectOf(index, namespace)
    const lines = project ? definitionRefusals(project, object as unknown as ProjectDefinition) : refusal.lines
    const what = `${object.kind} ${namespace}/${object.metadata.name}`
    return lines.map((line) => withPosition(finding('project-refuses', `${what}: ${line}`), definition))
  })
  const rendered = contents.flatMap(({ bundle, placed, locate }) => {
    const { project } = projectOf(index, bundle.slice(0, bundle.indexOf('/')))
    if (!project) return []
    const seen = new Set<string>()
    return placed.flatMap(({ objects }) =>
      objects.flatMap((object) => {
        const { apiVersion, kind, metadata } = object
        const { name, namespace } = metadata
        const [line] = contentRefusals(project, [{ apiVersion, kind, name, ...compact({ namespace }) }])
        if (line === undefined || seen.has(line)) return []
        seen.add(line)
        return [locate(finding('project-refuses', `Bundle ${bundle}: ${line}`), object)]
      }),
    )
  })
  return [...own, ...rendered]
}
