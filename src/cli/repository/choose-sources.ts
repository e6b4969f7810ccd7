import type { Source } from '../../kinds/native/source.ts'
import { SourceError } from '../../source/source-error.ts'
import { ALL_SCHEMES, parseSourceUrl } from '../../source/source-url.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { keyOfObject } from './fleet-facts.ts'
import { didYouMean } from '../errors/did-you-mean.ts'

/** Which Sources a repository on this disk stands for. */
export interface SourceQuestion {
  readonly sources: readonly Source[]
  readonly remotes: readonly string[]
  /** `name` or `namespace/name`; said by a person, it wins over addresses. */
  readonly named?: string | undefined
  /** The branch that the change is for. */
  readonly into?: string | undefined
}

/**
 * Chooses Sources: the named Sources, otherwise the Sources that follow a branch of one of the repository's remotes.
 */
export function chooseSources({ sources, remotes, named, into }: SourceQuestion): readonly Source[] {
  const git = sources.filter(({ spec }) => spec.git !== undefined)
  if (named !== undefined) {
    const found = git.filter((source) => keyOfObject(source) === named || source.metadata.name === named)
    if (found.length > 0) return found
    const todo =
      didYouMean(
        named,
        git.flatMap((source) => [source.metadata.name, keyOfObject(source)]),
      ) ?? 'see flotilla get sources -A'
    throw new CliError(EXIT.notFound, { what: `Source ${JSON.stringify(named)} of a git repository not found`, todo })
  }
  const here = new Set(remotes.map(addressOf))
  const follows = git.filter(({ spec }) => {
    const { url, ref } = spec.git!
    const isPinned = ref?.tag !== undefined || ref?.commit !== undefined || ref?.semver !== undefined
    const isOther = into !== undefined && ref?.branch !== undefined && ref.branch !== into
    return here.has(addressOf(url)) && !isPinned && !isOther
  })
  if (follows.length > 0 || git.length === 0) return follows
  throw new CliError(EXIT.usage, {
    what: 'no Source of the hub uses this repository',
    why: remotes.length === 0 ? 'the clone has no remotes' : `remotes of the clone: ${remotes.join(', ')}`,
    todo: `give the Source with --source; the hub has ${git.map(keyOfObject).slice(0, 5).join(', ')}`,
  })
}

/** An address without what does not tell two repositories apart: scheme, user, port, `.git`. */
export function addressOf(url: string): string {
  try {
    const { host, path } = parseSourceUrl(url.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1'), ALL_SCHEMES)
    return `${host}/${path.replace(/^\/+|(\.git)?\/*$/g, '')}`
  } catch (caught) {
    if (caught instanceof SourceError) return url
    throw caught
  }
}
