/** Looks up names under the rules of egress, where the connection is made: a second answer cannot differ. */
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { checkAddress } from '../core/text/egress.ts'
import type { EgressRules, EgressTarget } from '../core/text/egress.ts'
import { toError } from '../core/errors.ts'

/** The lookup of a socket to the target. Refuses a name if one of its addresses is closed. */
export function guardedLookup(rules: EgressRules, target: EgressTarget): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      try {
        for (const { address } of addresses) checkAddress(rules, target, address)
      } catch (caught) {
        return done(toError(caught), [])
      }
      if (options.all) return done(null, addresses)
      const [first] = addresses
      return first ? done(null, first.address, first.family) : done(new Error(`${name} has no address`), [])
    })
  }
}

/** The addresses of the target, for a program that connects by itself. Rejects with EgressRefused if one is closed. */
export async function resolveGuarded(rules: EgressRules, target: EgressTarget): Promise<string[]> {
  return await new Promise((resolve, reject) => {
    guardedLookup(rules, target)(target.host, { all: true }, (error, addresses) => {
      if (error) return reject(error)
      resolve(typeof addresses === 'string' ? [addresses] : addresses.map(({ address }) => address))
    })
  })
}
