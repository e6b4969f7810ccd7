/** Sprig's questions about types. */
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { kindOf } from '../../gotemplate/value.ts'
import { deepEqual } from './go/deep-equal.ts'
import { typeOf } from './lists.ts'

function kind(value: unknown): string {
  const name = kindOf(value)
  return name === 'invalid' ? 'invalid' : name
}

/** Types, equality and giving up. */
export const TYPE_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  typeOf: goFunction(['any'], ([value]) => typeOf(value)),
  typeIs: goFunction(['string', 'any'], ([name, value]) => typeOf(value) === name),
  typeIsLike: goFunction(
    ['string', 'any'],
    ([name, value]) => typeOf(value) === name || typeOf(value) === `*${String(name)}`,
  ),
  kindOf: goFunction(['any'], ([value]) => kind(value)),
  kindIs: goFunction(['string', 'any'], ([name, value]) => kind(value) === name),
  deepEqual: goFunction(['any', 'any'], ([a, b]) => deepEqual(a, b)),
  fail: goFunction(['string'], ([message]) => {
    throw new GoError(message as string)
  }),
}
