/** The tenants of namespaces: all namespaces of one Project are one tenant, which waits in one line. */
import { Project } from '../../kinds/native/project.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { followKind } from '../storage/follow-kind.ts'
import type { KindEventHandler } from '../storage/follow-kind.ts'

export interface Tenants {
  /** The Project of a namespace, or the namespace if it has none or several. */
  tenantOf(namespace: string): string
  /** Resolves when the following has ended. */
  readonly done: Promise<void>
}

/** Follows Projects where the server has them. */
export function startTenants(
  parts: Pick<ServerParts, 'store' | 'clock' | 'log' | 'registry'>,
  signal: AbortSignal,
): Tenants {
  const projects = new Map<string, readonly string[]>()
  let index: Map<string, string> | undefined
  const handler: KindEventHandler = {
    saw: (object) => {
      projects.set(object.metadata.name, (object as UnknownObject & Project).spec.namespaces ?? [])
      index = undefined
    },
    lost: (name) => {
      projects.delete(name)
      index = undefined
    },
  }
  const kind = parts.registry.find(Project.group, Project.version, Project.plural)
  return {
    tenantOf: (namespace) => (index ??= indexOf(projects)).get(namespace) ?? namespace,
    done: kind ? followKind(parts, kind, handler, signal).done : Promise.resolve(),
  }
}

function indexOf(projects: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const index = new Map<string, string>()
  const contested = new Set<string>()
  for (const [name, namespaces] of projects) {
    for (const namespace of namespaces) {
      if (index.has(namespace)) contested.add(namespace)
      index.set(namespace, `Project ${name}`)
    }
  }
  for (const namespace of contested) index.delete(namespace)
  return index
}
