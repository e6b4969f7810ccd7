// Tested by src/cli/commands/flux/flux.contract.test.ts.
/** `flotilla flux build kustomization`: what Flux would apply for a Kustomization and a directory, without a hub. */
import { resolve } from 'node:path'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { diskTree } from '../../repository/disk-tree.ts'

/** Flags of `flux build kustomization`. */
export interface FluxBuildFlags {
  readonly path?: string
  readonly kustomizationFile?: string
  readonly namespace?: string
  readonly objects?: string
  readonly dryRun?: boolean
  readonly strictSubstitute?: boolean
  readonly ignorePaths?: readonly string[]
  readonly recursive?: boolean
  readonly localSources?: readonly string[]
}

/** Prints the objects, each followed by `---`. */
export async function buildKustomizationCommand(
  name: string,
  { terminal, flags }: { readonly terminal: Terminal; readonly flags: FluxBuildFlags },
): Promise<void> {
  const { path = '.', kustomizationFile: file = '', namespace = 'flux-system' } = flags
  const [{ buildCommandText }, { FluxBuildError }] = await Promise.all([
    import('../../../dialects/flux/build/build-command.ts'),
    import('../../../dialects/flux/build/flux-build-error.ts'),
  ])
  const text = await readText(file)
  const objects = flags.objects === undefined || flags.dryRun ? undefined : await readObjects(flags.objects)
  try {
    const printed = buildCommandText({
      name,
      namespace,
      text,
      file,
      tree: diskTree(),
      directory: resolve(path),
      resolve,
      note: (text) => terminal.step('warn', text),
      strict: flags.strictSubstitute ?? false,
      ignorePaths: flags.ignorePaths ?? [],
      ...(objects && { objects }),
      ...(flags.recursive && { localSources: localSources(flags.localSources ?? []) }),
    })
    terminal.data(printed)
  } catch (caught) {
    if (!(caught instanceof FluxBuildError)) throw caught
    throw new CliError(EXIT.failed, { what: caught.message }, { cause: caught })
  }
}

async function readObjects(file: string): Promise<JsonObject[]> {
  try {
    return readYaml(await readText(file), { file, duplicateKeys: 'last' })
      .map(({ value }) => value)
      .filter(isObject)
      .flatMap((object) => (Array.isArray(object['items']) ? object['items'].filter(isObject) : [object]))
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new CliError(EXIT.failed, { what: caught.message }, { cause: caught })
  }
}

/** Reads `--local-sources`: `Kind/namespace/name=directory`. */
export function localSources(texts: readonly string[]): Map<string, string> {
  return new Map(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at < 1 || text.slice(0, at).split('/').length !== 3) {
        throw new CliError(EXIT.usage, {
          what: `invalid --local-sources ${JSON.stringify(text)}: must be KIND/NAMESPACE/NAME=DIR`,
        })
      }
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}
