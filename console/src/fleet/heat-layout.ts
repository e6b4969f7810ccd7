/** Where the tiles of the heat map are: pure geometry, in CSS pixels. */
import type { Group } from './arrange.ts'

/** One group of tiles with its title. */
export interface Block {
  readonly group: Group
  /** Top of the title. */
  readonly titleY: number
  /** Top of the first row of tiles. */
  readonly y: number
}

export interface HeatLayout {
  readonly blocks: readonly Block[]
  readonly columns: number
  /** Edge of a tile with its gap. */
  readonly step: number
  readonly size: number
  readonly height: number
}

const GAP = 3
const TITLE = 24
const SPACE = 10
const SIZES = [26, 20, 16, 13, 10, 8] as const
/** Fits above the table without scrolling. */
const ROOM = 320

/** Places tiles in a width; the largest size that fits into the room is taken. */
export function layOut(groups: readonly Group[], width: number): HeatLayout {
  const sizes = SIZES.map((size) => place(groups, width, size))
  return sizes.find(({ height }) => height <= ROOM) ?? sizes.at(-1)!
}

function place(groups: readonly Group[], width: number, size: number): HeatLayout {
  const step = size + GAP
  const columns = Math.max(1, Math.floor((width + GAP) / step))
  let y = 0
  const blocks = groups.map((group) => {
    const titleY = y
    const top = group.key === '' && groups.length === 1 ? y : y + TITLE
    y = top + Math.ceil(group.rows.length / columns) * step + SPACE
    return { group, titleY, y: top }
  })
  return { blocks, columns, step, size, height: Math.max(0, y - SPACE) }
}

/** The position of a tile: its block, and its place in it. */
export interface TilePlace {
  readonly block: number
  readonly index: number
}

/** The tile at a point; undefined between tiles. */
export function tileAt(layout: HeatLayout, x: number, y: number): TilePlace | undefined {
  const { blocks, columns, step, size } = layout
  const block = blocks.findLastIndex((one) => one.y <= y)
  if (block < 0 || x < 0) return undefined
  const column = Math.floor(x / step)
  const row = Math.floor((y - blocks[block]!.y) / step)
  if (column >= columns || x - column * step > size || y - blocks[block]!.y - row * step > size) return undefined
  const index = row * columns + column
  return index < blocks[block]!.group.rows.length ? { block, index } : undefined
}

/** The left upper corner of a tile. */
export function cornerOf(layout: HeatLayout, { block, index }: TilePlace): { readonly x: number; readonly y: number } {
  const { columns, step, blocks } = layout
  return { x: (index % columns) * step, y: blocks[block]!.y + Math.floor(index / columns) * step }
}

/** The tile that an arrow key leads to. */
export function moveTile(layout: HeatLayout, from: TilePlace | undefined, key: string): TilePlace | undefined {
  if (layout.blocks.length === 0) return undefined
  if (!from) return { block: 0, index: 0 }
  const { blocks, columns } = layout
  const count = (block: number): number => blocks[block]!.group.rows.length
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key]
  if (step === undefined) return from
  const index = from.index + step
  if (index >= 0 && index < count(from.block)) return { ...from, index }
  const block = from.block + (step > 0 ? 1 : -1)
  if (block < 0 || block >= blocks.length) return from
  const column = Math.abs(step) === 1 ? (step > 0 ? 0 : count(block) - 1) : from.index % columns
  if (step > 0 || Math.abs(step) === 1) return { block, index: Math.min(column, count(block) - 1) }
  const last = Math.floor((count(block) - 1) / columns) * columns + column
  return { block, index: Math.min(last, count(block) - 1) }
}
