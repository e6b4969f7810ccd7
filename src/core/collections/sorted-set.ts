/**
 * A set that is always in order. One more or one less costs about the same however many there are: it is kept in pieces
 * of bounded length, and only one piece moves.
 */

/** A set in the order of its comparison, where nothing is in it twice. */
export interface SortedSet<T> extends Iterable<T> {
  readonly size: number
  /** Puts it in; what compares equal and is in it already is replaced. */
  add(value: T): void
  /** Takes out what compares equal. */
  delete(value: T): void
}

const PIECE = 512

/** Makes an empty one. */
export function createSortedSet<T>(compare: (a: T, b: T) => number): SortedSet<T> {
  const pieces: T[][] = []
  let size = 0

  /** The piece in which a value is, or belongs. */
  function pieceOf(value: T): number {
    let [low, high] = [0, pieces.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(pieces[middle]!.at(-1)!, value) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    get size() {
      return size
    },
    add: (value) => {
      const at = pieceOf(value)
      const piece = pieces[at]
      if (!piece) {
        pieces.push([value])
        size++
        return
      }
      const place = placeIn(piece, value, compare)
      const there = piece[place]
      if (there !== undefined && compare(there, value) === 0) {
        piece[place] = value
        return
      }
      piece.splice(place, 0, value)
      size++
      if (piece.length > PIECE) pieces.splice(at + 1, 0, piece.splice(piece.length >> 1))
    },
    delete: (value) => {
      const at = pieceOf(value)
      const piece = pieces[at]
      if (!piece) return
      const place = placeIn(piece, value, compare)
      const there = piece[place]
      if (there === undefined || compare(there, value) !== 0) return
      piece.splice(place, 1)
      size--
      if (piece.length === 0) pieces.splice(at, 1)
    },
    *[Symbol.iterator]() {
      for (const piece of pieces) yield* piece
    },
  }
}

/** The first place whose value is not before this one. */
function placeIn<T>(piece: readonly T[], value: T, compare: (a: T, b: T) => number): number {
  let [low, high] = [0, piece.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(piece[middle]!, value) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Several sets in one order. */
export function* mergeSorted<T>(sets: readonly Iterable<T>[], compare: (a: T, b: T) => number): Generator<T> {
  const heads = sets.flatMap((set) => {
    const rest = set[Symbol.iterator]()
    const first = rest.next()
    return first.done ? [] : [{ value: first.value, rest }]
  })
  while (heads.length > 0) {
    const least = heads.reduce((best, head) => (compare(head.value, best.value) < 0 ? head : best))
    yield least.value
    const next = least.rest.next()
    if (next.done) heads.splice(heads.indexOf(least), 1)
    else least.value = next.value
  }
}
