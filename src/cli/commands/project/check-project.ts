// Tested by src/cli/commands/project/project.test.ts.
/**
 * `flotilla project check`: whether Projects allow the objects of files, which executor applies them, and which line
 * refuses.
 */
import { clientOver } from '../../../client/create-client.ts'
import { isObject } from '../../../core/json.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { allLimitsOf, decideExecutor } from '../../../plan/projects/limits.ts'
import { definitionRefusals } from '../../../plan/projects/decide.ts'
import type { Definition } from '../../../plan/projects/decide.ts'
import { indexProjects, projectOf } from '../../../plan/projects/project-of.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { listAll, PROJECTS } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What the command receives. */
export interface CheckProjectInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: { readonly filename?: readonly string[]; readonly namespace?: string }
}

/** Prints one line for each Source, Bundle and Placement. The exit code is 1 if the Project refuses one of them. */
export async function projectCheck({ connection, terminal, flags }: CheckProjectInput): Promise<ExitCode> {
  const files = flags.filename ?? []
  const objects = (await Promise.all(files.map(readObjects))).flat()
  if (objects.length === 0) {
    throw new CliError(EXIT.usage, {
      where: files.join(', '),
      what: 'no Source, Bundle or Placement found',
      todo: 'give files with objects of flotilla.dev with -f',
    })
  }
  const index = indexProjects(await listAll(clientOver(connection.rest), PROJECTS))
  let isRefused = false
  for (const object of objects) {
    const namespace = object.metadata.namespace ?? flags.namespace ?? 'default'
    const what = `${object.kind} ${namespace}/${object.metadata.name}`
    const { project, refusal } = projectOf(index, namespace)
    const lines = project ? definitionRefusals(project, object) : refusal.lines
    isRefused ||= lines.length > 0
    if (lines.length > 0) for (const line of lines) terminal.data(`refused  ${what}: ${line}\n`)
    else terminal.data(`allowed  ${what}: Project ${project!.metadata.name}${identityText(project!, object)}\n`)
  }
  terminal.say('Rendered objects, quotas and ClusterSetBindings are checked by the hub.')
  return isRefused ? EXIT.failed : EXIT.ok
}

type FoundProject = NonNullable<ReturnType<typeof projectOf>['project']>

function identityText(project: FoundProject, object: Definition): string {
  if (object.kind !== 'Bundle') return ''
  const { executor } = decideExecutor(allLimitsOf(project), (object as Bundle).spec.executor)
  return executor ? `, applied as ${executor.namespace}/${executor.name}` : ", applied with the agent's own rights"
}

async function readObjects(file: string): Promise<Definition[]> {
  try {
    return readYaml(await readText(file), { file })
      .map(({ value }) => value)
      .filter((value): value is Record<string, unknown> => isObject(value) && isChecked(value))
      .map((value) => ({ spec: {}, ...value }) as unknown as Definition)
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new CliError(EXIT.failed, { what: caught.message }, { cause: caught })
  }
}

function isChecked({ apiVersion, kind, metadata }: Record<string, unknown>): boolean {
  const isOurs = typeof apiVersion === 'string' && apiVersion.startsWith('flotilla.dev/')
  const isNamed = isObject(metadata) && typeof metadata['name'] === 'string'
  return isOurs && isNamed && ['Source', 'Bundle', 'Placement'].includes(String(kind))
}
