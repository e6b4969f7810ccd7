/** Webhooks that concern the generators of an ApplicationSet. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { RepositoryEvent } from '../../../source/webhook/repository-event.ts'

/** Whether a generator `pullRequest` of a set, at any depth, is about the repository of an event. */
export function concernsSet(generators: unknown, { names }: RepositoryEvent): boolean {
  const wanted = new Set(names.filter((name) => name !== '').map((name) => name.toLowerCase()))
  const walk = (value: unknown, depth: number): boolean => {
    if (depth > MAX_DEPTH) return false
    if (Array.isArray(value)) return value.some((one) => walk(one, depth + 1))
    if (!isObject(value)) return false
    return Object.entries(value).some(([key, one]) =>
      key === 'pullRequest' && isObject(one)
        ? repositoriesOf(one).some((name) => wanted.has(name))
        : walk(one, depth + 1),
    )
  }
  return walk(generators, 0)
}

const MAX_DEPTH = 20

function repositoriesOf(generator: JsonObject): readonly string[] {
  return ['github', 'gitlab', 'gitea'].flatMap((service) => {
    const { owner, repo, project } = objectAt(generator, service)
    if (typeof project === 'string' || typeof project === 'number') return [String(project).toLowerCase()]
    return typeof owner === 'string' && typeof repo === 'string' ? [`${owner}/${repo}`.toLowerCase()] : []
  })
}

function objectAt(from: JsonObject, field: string): JsonObject {
  const value = from[field]
  return isObject(value) ? value : {}
}
