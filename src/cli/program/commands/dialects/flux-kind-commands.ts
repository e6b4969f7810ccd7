// Tested by src/cli/commands/flux/flux-objects.test.ts.
/** A subcommand for each kind of Flux: `flux VERB kustomization`, `flux VERB source git`. */
import type { FlotillaCommand } from '../../flotilla-command.ts'

interface NamedKind {
  /** The word of the command, the last one for a source. */
  readonly word: string
  readonly aliases: readonly string[]
  readonly kind: string
  readonly plural: string
  /** A name for examples. */
  readonly example: string
}

const WORKLOADS = {
  kustomization: {
    word: 'kustomization',
    aliases: ['ks'],
    kind: 'Kustomization',
    plural: 'Kustomizations',
    example: 'apps',
  },
  helmrelease: {
    word: 'helmrelease',
    aliases: ['hr'],
    kind: 'HelmRelease',
    plural: 'HelmReleases',
    example: 'podinfo',
  },
} as const

const SOURCES = {
  git: { word: 'git', aliases: [], kind: 'GitRepository', plural: 'GitRepositories', example: 'fleet' },
  oci: { word: 'oci', aliases: [], kind: 'OCIRepository', plural: 'OCIRepositories', example: 'podinfo' },
  bucket: { word: 'bucket', aliases: [], kind: 'Bucket', plural: 'Buckets', example: 'apps' },
  helm: { word: 'helm', aliases: [], kind: 'HelmRepository', plural: 'HelmRepositories', example: 'podinfo' },
  chart: {
    word: 'chart',
    aliases: [],
    kind: 'HelmChart',
    plural: 'HelmCharts',
    example: 'flux-system-podinfo',
  },
} as const

/** Keys of the kinds in the commands. */
export type KindKey = keyof typeof WORKLOADS | keyof typeof SOURCES
/** The sources, in the order of `flux get sources all`. */
export const SOURCE_KEYS = ['oci', 'git', 'bucket', 'helm', 'chart'] as const satisfies readonly KindKey[]

/** A command for one kind, and the words that call it. */
export interface KindCommand extends NamedKind {
  readonly key: KindKey
  readonly command: FlotillaCommand
  /** All words after the verb. */
  readonly words: string
}

/**
 * Adds the commands of all kinds below a verb. The words of `get` are plural; the others are singular. `about` is the
 * summary and the details of `source` itself.
 */
export function addKindCommands(
  parent: FlotillaCommand,
  about: readonly [summary: string, details: string],
  isPlural = false,
): { readonly commands: readonly KindCommand[]; readonly sources: FlotillaCommand } {
  const source = isPlural ? 'sources' : 'source'
  const verb = parent.name()
  const sources = parent
    .command(source)
    .about(...about)
    .example(`The GitRepository fleet`, `flotilla flux ${verb} ${source} git fleet`)
  if (isPlural) sources.alias('source')
  const made = (key: KindKey, named: NamedKind, isSource: boolean): KindCommand => {
    const word = isPlural && !isSource ? `${named.word}s` : named.word
    const command = (isSource ? sources : parent).command(word)
    for (const alias of named.aliases) command.alias(alias)
    if (word !== named.word) command.alias(named.word)
    return { ...named, key, command, words: isSource ? `${source} ${word}` : word }
  }
  const commands = [
    ...Object.entries(WORKLOADS).map(([key, named]) => made(key as KindKey, named, false)),
    ...Object.entries(SOURCES).map(([key, named]) => made(key as KindKey, named, true)),
  ]
  return { commands, sources }
}
