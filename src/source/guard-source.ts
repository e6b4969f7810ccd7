/** The rules of egress for Sources, with refusals as failures of the Source. */
import { allowHost, EgressRefused } from '../core/text/egress.ts'
import type { EgressRules, EgressTarget } from '../core/text/egress.ts'
import { resolveGuarded } from './egress-lookup.ts'
import { SourceError } from './source-error.ts'
import { portOf } from './source-url.ts'

/** Checks the host of a request. Throws SourceError. */
export function guardHost(
  rules: EgressRules,
  { hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>,
): EgressTarget {
  try {
    return allowHost(rules, { hostname, port: portOf({ scheme: protocol.slice(0, -1), port }) })
  } catch (caught) {
    throw asSourceError(caught) ?? caught
  }
}

/**
 * The addresses of a host, for a program that connects by itself; undefined when the operator named the host, so that
 * the program may look it up. Throws SourceError if one of the addresses is closed.
 */
export async function addressesOf(rules: EgressRules, target: EgressTarget): Promise<string[] | undefined> {
  if (target.isNamed) return undefined
  try {
    return await resolveGuarded(rules, target)
  } catch (caught) {
    throw asSourceError(caught) ?? caught
  }
}

/** The failure of a Source that an error stands for; undefined for other errors. */
export function asSourceError(caught: unknown): SourceError | undefined {
  if (caught instanceof SourceError) return caught
  if (!(caught instanceof EgressRefused)) return undefined
  return new SourceError('AddressRefused', `${caught.message}.`, { retry: true, cause: caught })
}
