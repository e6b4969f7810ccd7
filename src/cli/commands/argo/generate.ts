/** `flotilla argo generate`: the Applications that an ApplicationSet would make, without a hub. */
import { statSync } from 'node:fs'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { ENTROPY } from '../../repository/bundle-recipe.ts'
import { readRepository } from '../../repository/repository-files.ts'

/** Flags of `argo generate`. */
export interface GenerateFlags {
  readonly filename?: readonly string[]
  readonly root?: readonly string[]
  readonly namespace?: string
  readonly output?: string
}

const MAX_FILE = 64 * 1024 * 1024

/** Prints the Applications, sorted by name; an error of a set is an error of the command. */
export async function generate({
  terminal,
  flags,
}: {
  readonly terminal: Terminal
  readonly flags: GenerateFlags
}): Promise<void> {
  const namespace = flags.namespace ?? 'argocd'
  const [
    { sortArgoObjects },
    { generateApplications },
    { ApplicationSetError },
    { checkNumbers },
    { filesByRevision },
  ] = await Promise.all([
    import('../../../dialects/argo/applicationset/argo-objects.ts'),
    import('../../../dialects/argo/applicationset/generate.ts'),
    import('../../../dialects/argo/applicationset/applicationset-error.ts'),
    import('../../../dialects/argo/applicationset/read-yaml-text.ts'),
    import('../../../dialects/argo/applicationset/git-revision.ts'),
  ])
  const files = flags.filename ?? []
  const documents = (await Promise.all(files.map(readDocuments))).flat()
  const roots = readRoots(flags.root ?? [])
  const made: JsonObject[] = []
  const failing = (where: string, run: () => void): void => {
    try {
      run()
    } catch (caught) {
      if (!(caught instanceof ApplicationSetError)) throw caught
      throw new CliError(EXIT.failed, { where, what: caught.message }, { cause: caught })
    }
  }
  failing(files.join(', '), () => {
    checkNumbers(documents)
    const { sets, ...objects } = sortArgoObjects(documents, namespace)
    if (sets.length === 0) throw noSet(files, documents)
    for (const set of sets) {
      const where = `ApplicationSet ${String(isObject(set['metadata']) ? set['metadata']['name'] : '')}`
      failing(where, () => {
        const inputs = { ...objects, namespace, filesAt: filesByRevision(roots), entropy: ENTROPY }
        const { applications, warnings } = generateApplications(set, inputs)
        for (const warning of warnings) terminal.step('warn', `${where}: ${warning}`)
        made.push(...applications)
      })
    }
  })
  const list = { apiVersion: 'v1', kind: 'List', items: made.toSorted(byName) }
  if (flags.output === 'json') terminal.data(`${JSON.stringify(list, undefined, 2)}\n`)
  else {
    const { writeYaml } = await import('../../../yaml/write/write-yaml.ts')
    terminal.data(writeYaml(list))
  }
}

function noSet(files: readonly string[], documents: readonly JsonObject[]): CliError {
  const kinds = [...new Set(documents.map(({ kind }) => String(kind)))]
  return new CliError(EXIT.failed, {
    where: files.join(', '),
    what: 'no ApplicationSet found',
    ...(kinds.length > 0 && { why: `the kinds are ${kinds.join(', ')}` }),
    todo: 'give the file of the ApplicationSet with -f',
  })
}

function byName(a: JsonObject, b: JsonObject): number {
  const name = ({ metadata }: JsonObject): string => (metadata as { readonly name?: string }).name ?? ''
  return name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0
}

async function readDocuments(file: string): Promise<JsonObject[]> {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_FILE) throw new CliError(EXIT.usage, { where: file, what: `the file has more than ${MAX_FILE} bytes` })
  const text = await readText(file)
  try {
    return readYaml(text, { file, resolver: '1.1', duplicateKeys: 'last' })
      .map(({ value }) => value)
      .filter(isObject)
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new CliError(EXIT.failed, { what: caught.message }, { cause: caught })
  }
}

type Revision = { readonly paths: readonly string[]; read(path: string): Uint8Array }

/** `URL@REVISION=DIR`, by address and revision. */
function readRoots(texts: readonly string[]): Map<string, Map<string, Revision>> {
  const roots = new Map<string, Map<string, Revision>>()
  for (const text of texts) {
    const [, url, revision, directory] = /^(.+?)@([^@=]+)=(.+)$/s.exec(text) ?? []
    if (url === undefined || revision === undefined || directory === undefined) {
      throw new CliError(EXIT.usage, {
        what: `invalid --root ${JSON.stringify(text)}: must be URL@REVISION=DIR`,
        todo: 'give the address, the revision and the clone: --root https://git.example/apps.git@main=./apps',
      })
    }
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
      throw new CliError(EXIT.usage, { where: directory, what: 'cannot read the directory of --root' })
    }
    const files = readRepository(directory)
    const revisions = roots.get(url) ?? new Map<string, Revision>()
    revisions.set(revision, { paths: [...files.keys()], read: (path) => files.get(path)! })
    roots.set(url, revisions)
  }
  return roots
}
