/** All clusters as tiles on a canvas: one look at thousands. The table below has the same rows as text. */
import { useEffect, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent, PointerEvent } from 'react'
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { onThemeChange } from '../app/theme.ts'
import { Badges, State } from '../ui/state.tsx'
import { lookOf, wordsOf } from '../ui/states.ts'
import { Age } from '../ui/time.tsx'
import { valueOf } from './arrange.ts'
import type { Group } from './arrange.ts'
import { cornerOf, layOut, moveTile, tileAt } from './heat-layout.ts'
import type { HeatLayout, TilePlace } from './heat-layout.ts'
import type { Swatch } from './colors.ts'

const GLYPH_SIZE = 13

export interface HeatMapProps {
  readonly groups: readonly Group[]
  readonly groupBy: string
  readonly colorBy: string
  readonly legend: readonly Swatch[]
  readonly onOpen: (name: string) => void
}

export function HeatMap({ groups, groupBy, colorBy, legend, onOpen }: HeatMapProps) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const painted = useRef<Painted>(undefined)
  const [width, setWidth] = useState(0)
  const [palette, setPalette] = useState(0)
  const [place, setPlace] = useState<TilePlace>()
  const [isKeyed, setKeyed] = useState(false)
  const layout = useMemo(() => layOut(groups, width), [groups, width])
  const shown = place && layout.blocks[place.block]?.group.rows[place.index]

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => onThemeChange(() => setPalette((count) => count + 1)), [])
  useEffect(() => {
    if (!canvas.current || width === 0) return
    const painting = { layout, width, groupBy, colorBy, legend, place, palette }
    painted.current = paint(canvas.current, painting, painted.current)
  }, [layout, width, groupBy, colorBy, legend, place, palette])

  const onMove = ({ nativeEvent }: PointerEvent): void => {
    setKeyed(false)
    setPlace(tileAt(layout, nativeEvent.offsetX, nativeEvent.offsetY))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && shown) return onOpen(shown.name)
    if (!event.key.startsWith('Arrow')) return
    event.preventDefault()
    setKeyed(true)
    setPlace(moveTile(layout, place, event.key))
  }
  const count = groups.reduce((sum, { rows }) => sum + rows.length, 0)
  const summary = legend.map((swatch) => `${swatch.count} ${titleOf(swatch.value, colorBy)}`).join(', ')
  return (
    <div className="heat" ref={box}>
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        aria-label={`Heat map of ${count} clusters: ${summary}. Arrow keys move, Enter opens a cluster.`}
        data-tiles={count}
        style={{ height: layout.height, width }}
        onPointerMove={onMove}
        onPointerLeave={() => setPlace(undefined)}
        onBlur={() => setPlace(undefined)}
        onClick={() => shown && onOpen(shown.name)}
        onKeyDown={onKeyDown}
      />
      <div className="hidden" aria-live="polite">
        {isKeyed && shown && `${shown.name}, ${wordsOf(shown.state)}. ${shown.message}`}
      </div>
      {shown && place && <TileCard row={shown} {...cardCorner(layout, place, width)} />}
    </div>
  )
}

/** The card beside a tile, kept inside the map. */
function cardCorner(layout: HeatLayout, place: TilePlace, width: number): { readonly x: number; readonly y: number } {
  const { x, y } = cornerOf(layout, place)
  return { x: Math.max(0, Math.min(x, width - 300)), y: y + layout.step + 4 }
}

function TileCard({ row, x, y }: { readonly row: FleetRow; readonly x: number; readonly y: number }) {
  const labels = Object.entries(row.labels)
  return (
    <div className="tile-card" style={{ transform: `translate(${x}px, ${y}px)` }} aria-hidden="true">
      <strong>{row.name}</strong>
      <p>
        <State state={row.state} /> {row.since > 0 && <Age at={row.since} suffix=" ago" />}{' '}
        <Badges badges={row.badges} />
      </p>
      {row.message !== '' && row.state !== 'Ready' && <p className="clamp">{row.message}</p>}
      <p className="quiet">
        {row.ready} of {row.bundles} bundles ready{row.version !== '' && ` · ${row.version}`}
      </p>
      <p className="quiet">{labels.map(([key, value]) => `${key}=${value}`).join('  ')}</p>
    </div>
  )
}

/** A value as the legend and the groups show it. */
export function titleOf(value: string, by: string): string {
  if (by === 'state') return wordsOf(value)
  return value === '' ? `no ${by}` : value
}

interface Painting extends Omit<HeatMapProps, 'onOpen' | 'groups'> {
  readonly layout: HeatLayout
  readonly width: number
  readonly place: TilePlace | undefined
  /** Changes with the theme. */
  readonly palette: number
}

/** What a canvas shows: a tile is drawn again only if it is another one. */
interface Painted {
  /** Everything but the tiles; if it differs, the canvas is drawn anew. */
  readonly frame: string
  /** Titles with their counts. */
  readonly titles: string
  /** The look of each tile, by block. */
  readonly tiles: readonly (readonly string[])[]
  readonly place: TilePlace | undefined
}

/** Draws what differs from what the canvas shows; returns what it shows then. */
function paint(canvas: HTMLCanvasElement, painting: Painting, before: Painted | undefined): Painted {
  const { layout, width, colorBy, legend, place } = painting
  const { blocks, size } = layout
  const ratio = window.devicePixelRatio || 1
  const titles = blocks.map((block) => titleParts(block, painting.groupBy))
  const colorNames = new Map(legend.map(({ value, color }) => [value, color]))
  const tiles = blocks.map(({ group }) =>
    group.rows.map((row) => `${row.state} ${colorNames.get(valueOf(row, colorBy)) ?? '--quiet'}`),
  )
  const { height, columns } = layout
  const places = blocks.map(({ group, y }) => [group.key, group.rows.length, y])
  const frame = JSON.stringify([width, ratio, height, size, columns, colorBy, painting.palette, places])
  const painted = { frame, titles: JSON.stringify(titles), tiles, place }
  const context = canvas.getContext('2d')
  if (!context) return painted
  const styles = getComputedStyle(canvas)
  const isAnew = before?.frame !== frame
  if (isAnew) {
    canvas.width = Math.round(width * ratio)
    canvas.height = Math.max(1, Math.round(height * ratio))
    context.scale(ratio, ratio)
  }
  if (isAnew || before.titles !== painted.titles) drawTitles(context, titles, { styles, width })
  const ink = inksFor(colorBy, styles)
  context.font = `${Math.round(size * 0.6)}px ${styles.fontFamily}`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  const isAt = (one: TilePlace | undefined, block: number, index: number): boolean =>
    one?.block === block && one.index === index
  for (const [block, looks] of tiles.entries()) {
    for (const [index, look] of looks.entries()) {
      const isMarked = isAt(place, block, index) !== isAt(before?.place, block, index)
      if (!isAnew && !isMarked && before?.tiles[block]?.[index] === look) continue
      const { x, y } = cornerOf(layout, { block, index })
      // The mark around a tile is in the gap between tiles.
      if (!isAnew) context.clearRect(x - MARK, y - MARK, size + 2 * MARK, size + 2 * MARK)
      const [state = '', color = ''] = look.split(' ')
      tile(context, { x, y, size, color: ink.variable(color), ink: ink.of(state), state })
    }
  }
  if (!place || !tiles[place.block]?.[place.index]) return painted
  const corner = cornerOf(layout, place)
  context.strokeStyle = ink.variable('--text')
  context.lineWidth = MARK
  context.strokeRect(corner.x - 1, corner.y - 1, size + 2, size + 2)
  return painted
}

/** Width of the mark around the chosen tile; less than the gap between tiles. */
const MARK = 2
/** Height of the text of a title; less than the room above the tiles. */
const TITLE_HEIGHT = 20

interface TitleParts {
  readonly y: number
  readonly title: string
  readonly counts: string
}

/** The title of a block; undefined if it has none. */
function titleParts({ group, titleY, y }: HeatLayout['blocks'][number], groupBy: string): TitleParts | undefined {
  if (y === titleY) return undefined
  const ready = group.rows.filter(({ state }) => state === 'Ready').length
  const members = group.rows.filter(({ isApart }) => !isApart).length
  return { y: titleY, title: titleOf(group.key, groupBy), counts: `${ready} of ${members} ready` }
}

function drawTitles(
  context: CanvasRenderingContext2D,
  titles: readonly (TitleParts | undefined)[],
  { styles, width }: { readonly styles: CSSStyleDeclaration; readonly width: number },
): void {
  const variable = (name: string): string => styles.getPropertyValue(name).trim()
  for (const parts of titles) {
    if (!parts) continue
    context.clearRect(0, parts.y, width, TITLE_HEIGHT)
    context.textBaseline = 'middle'
    context.textAlign = 'left'
    context.font = `600 13px ${styles.fontFamily}`
    context.fillStyle = variable('--text')
    context.fillText(parts.title, 0, parts.y + 10)
    const after = context.measureText(parts.title).width + 8
    context.font = `12px ${styles.fontFamily}`
    context.fillStyle = variable('--quiet')
    context.fillText(parts.counts, after, parts.y + 10)
  }
}

/** Colours of the theme, each looked up once. */
function inksFor(colorBy: string, styles: CSSStyleDeclaration) {
  const known = new Map<string, string>()
  const variable = (name: string): string => {
    const value = known.get(name) ?? styles.getPropertyValue(name).trim()
    known.set(name, value)
    return value
  }
  return {
    variable,
    of: (state: string): string =>
      variable(colorBy === 'state' && lookOf(state).tone === 'wait' ? '--tile-ink-wait' : '--tile-ink'),
  }
}

interface Tile {
  readonly x: number
  readonly y: number
  readonly size: number
  readonly color: string
  readonly ink: string
  readonly state: string
}

/** A tile shows its state by a sign or, where that is too small to read, by a shape. */
function tile(context: CanvasRenderingContext2D, { x, y, size, color, ink, state }: Tile): void {
  const isHollow = lookOf(state).tone === 'quiet'
  context.fillStyle = color
  context.strokeStyle = color
  context.lineWidth = size > 10 ? 2 : 1.5
  context.beginPath()
  context.roundRect(
    x + (isHollow ? 1 : 0),
    y + (isHollow ? 1 : 0),
    size - (isHollow ? 2 : 0),
    size - (isHollow ? 2 : 0),
    size > 12 ? 4 : 2,
  )
  if (isHollow) context.stroke()
  else context.fill()
  if (size >= GLYPH_SIZE) {
    context.fillStyle = isHollow ? color : ink
    context.fillText(lookOf(state).sign, x + size / 2, y + size / 2 + 1)
  } else if (state === 'Failed' || state === 'Drifted') {
    context.strokeStyle = ink
    context.beginPath()
    context.moveTo(x + 2, y + 2)
    context.lineTo(x + size - 2, y + size - 2)
    if (state === 'Failed') {
      context.moveTo(x + size - 2, y + 2)
      context.lineTo(x + 2, y + size - 2)
    }
    context.stroke()
  }
}
