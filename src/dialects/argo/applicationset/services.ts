// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The pullRequest, scmProvider and plugin generators, over what a service answered. */
import { RE2JS, RE2JSException } from 're2js'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { goInt64, stringSlice } from '../../../render/gotemplate/value.ts'
import { ApplicationSetError, withContext } from './applicationset-error.ts'
import type { PullRequest, ScmRepository, ServiceFailure } from './generate-inputs.ts'
import type { GeneratorScene } from './generators.ts'
import { firstBytes, normalizeName, slugify } from './names.ts'
import { addValues, flatten, toGo } from './parameters.ts'
import type { Parameters } from './render-text.ts'

const MAX_EXPRESSION = 4096

type Filter = Readonly<Record<string, string | readonly string[] | undefined>>

/** The expressions of a filter, compiled before the service is asked. */
function compiled(filter: Filter, names: readonly string[]): Map<string, RE2JS> {
  const out = new Map<string, RE2JS>()
  for (const name of names) {
    const source = filter[name]
    if (typeof source !== 'string') continue
    const title = name[0]!.toUpperCase() + name.slice(1)
    try {
      if (source.length > MAX_EXPRESSION) throw new RE2JSException('expression too large')
      out.set(name, RE2JS.compile(source))
    } catch (caught) {
      if (!(caught instanceof RE2JSException)) throw caught
      throw new ApplicationSetError(
        `error listing repos: error compiling ${title} regexp ${JSON.stringify(source)}: ${caught.message}`,
      )
    }
  }
  return out
}

function finds(expressions: ReadonlyMap<string, RE2JS>, name: string, text: string): boolean {
  return expressions.get(name)?.matcher(text).find() ?? true
}

function isFailure(answer: unknown): answer is ServiceFailure {
  return typeof answer === 'object' && answer !== null && 'failure' in answer
}

/** Parameter sets of pull requests. */
export function generateFromPullRequests(
  generator: JsonObject,
  { inputs, renderer, budget }: GeneratorScene,
): Parameters[] {
  const filters = ((generator['filters'] ?? []) as Filter[]).map((filter) =>
    compiled(filter, ['branchMatch', 'targetBranchMatch', 'titleMatch']),
  )
  const ask = inputs.services?.pullRequests
  if (!ask) throw notAsked('pullRequest')
  const answer = ask(generator)
  if (isFailure(answer)) {
    if (answer.isNotFound && generator['continueOnRepoNotFoundError'] === true) return []
    throw new ApplicationSetError(`error listing repos: ${answer.failure}`)
  }
  const wanted = answer.filter(
    ({ branch, targetBranch, title }) =>
      filters.length === 0 ||
      filters.some(
        (filter) =>
          finds(filter, 'branchMatch', branch) &&
          finds(filter, 'targetBranchMatch', targetBranch) &&
          finds(filter, 'titleMatch', title),
      ),
  )
  budget.fits(wanted.length)
  return wanted.map((pull) => {
    const set = pullParameters(pull, renderer.isGo)
    withContext('failed to append templated values', () =>
      addValues(generator['values'] as Record<string, string> | undefined, set, renderer),
    )
    return set
  })
}

function notAsked(name: string): ApplicationSetError {
  return new ApplicationSetError(`${name}: a generator that asks a service is not run here; write its sets as a list`)
}

function slugOf(branch: string): string {
  return slugify(branch.replaceAll('_', '-'), 50, true)
}

function pullParameters(pull: PullRequest, isGo: boolean): Parameters {
  const set: Parameters = new Map<string, unknown>([
    ['number', String(pull.number)],
    ['title', pull.title],
    ['branch', pull.branch],
    ['branch_slug', slugOf(pull.branch)],
    ['target_branch', pull.targetBranch],
    ['target_branch_slug', slugOf(pull.targetBranch)],
    ['head_sha', pull.headSHA],
    ['head_short_sha', firstBytes(pull.headSHA, 8)],
    ['head_short_sha_7', firstBytes(pull.headSHA, 7)],
    ['author', pull.author],
  ])
  if (isGo) set.set('labels', stringSlice([...pull.labels]))
  return set
}

/** Parameter sets of repositories and their branches. */
export function generateFromScm(generator: JsonObject, { inputs, renderer, budget }: GeneratorScene): Parameters[] {
  const filters = ((generator['filters'] ?? []) as Filter[]).map((filter) => ({
    filter,
    expressions: compiled(filter, ['repositoryMatch', 'labelMatch', 'branchMatch']),
  }))
  const ask = inputs.services?.scmRepositories
  if (!ask) throw notAsked('scmProvider')
  const answer = ask(generator)
  if (isFailure(answer)) throw new ApplicationSetError(`error listing repos: ${answer.failure}`)
  // A filter that looks at branches or paths belongs to branches, another to repositories.
  const isOfBranch = ({ filter }: { readonly filter: Filter }): boolean =>
    ['pathsExist', 'pathsDoNotExist', 'branchMatch'].some((name) => filter[name] !== undefined)
  const isOfRepository = ({ filter }: { readonly filter: Filter }): boolean =>
    ['repositoryMatch', 'labelMatch'].some((name) => filter[name] !== undefined)
  const ofBranches = filters.filter(isOfBranch)
  const ofRepositories = filters.filter((one) => !isOfBranch(one) && isOfRepository(one))
  const passes = (repository: ScmRepository, those: typeof filters): boolean =>
    those.length === 0 || those.some(({ filter, expressions }) => fits(repository, filter, expressions))
  const nameOf = ({ organization, repository }: ScmRepository): string => JSON.stringify([organization, repository])
  // A repository is looked at as it is with its first branch; then all of its branches are.
  const firsts = new Map(answer.toReversed().map((one) => [nameOf(one), one]))
  const wanted = new Set([...firsts.values()].filter((one) => passes(one, ofRepositories)).map(nameOf))
  const chosen = answer.filter((repository) => wanted.has(nameOf(repository)) && passes(repository, ofBranches))
  budget.fits(chosen.length)
  return chosen.map((repository) => {
    const set = scmParameters(repository)
    withContext('failed to append templated values', () =>
      addValues(generator['values'] as Record<string, string> | undefined, set, renderer),
    )
    return set
  })
}

function fits(repository: ScmRepository, filter: Filter, expressions: ReadonlyMap<string, RE2JS>): boolean {
  const hasPath = (path: string): boolean => repository.hasPath(path.replace(/\/+$/, ''))
  const paths = (name: string): readonly string[] => (filter[name] ?? []) as readonly string[]
  return (
    finds(expressions, 'repositoryMatch', repository.repository) &&
    finds(expressions, 'branchMatch', repository.branch) &&
    (!expressions.has('labelMatch') || repository.labels.some((label) => finds(expressions, 'labelMatch', label))) &&
    paths('pathsExist').every(hasPath) &&
    !paths('pathsDoNotExist').some(hasPath)
  )
}

function scmParameters(repository: ScmRepository): Parameters {
  const { repositoryId } = repository
  return new Map<string, unknown>([
    ['organization', repository.organization],
    ['repository', repository.repository],
    ['repository_id', typeof repositoryId === 'number' ? goInt64(repositoryId) : (repositoryId ?? null)],
    ['url', repository.url],
    ['branch', repository.branch],
    ['sha', repository.sha],
    ['short_sha', firstBytes(repository.sha, 8)],
    ['short_sha_7', firstBytes(repository.sha, 7)],
    ['labels', repository.labels.join(',')],
    ['branchNormalized', normalizeName(repository.branch)],
  ])
}

/** Parameter sets of a plugin. */
export function generateFromPlugin(generator: JsonObject, { inputs, renderer, budget }: GeneratorScene): Parameters[] {
  const ask = inputs.services?.plugin
  if (!ask) throw notAsked('plugin')
  const answer = ask(generator)
  if (isFailure(answer)) throw new ApplicationSetError(`error listing params: ${answer.failure}`)
  budget.fits(answer.length)
  const input = isObject(generator['input']) ? generator['input'] : {}
  return answer.map((object) => {
    const found = toGo(object) as Parameters
    const set: Parameters = renderer.isGo ? found : withContext('error listing params', () => flatten(found, budget))
    set.set('generator', toGo({ input: { parameters: input['parameters'] ?? {} } }))
    withContext('failed to append templated values', () =>
      addValues(generator['values'] as Record<string, string> | undefined, set, renderer),
    )
    return set
  })
}
