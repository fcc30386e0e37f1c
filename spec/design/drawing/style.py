"""The colours of a drawing, on light paper and on dark, and its arrow heads."""

from __future__ import annotations

__all__ = ["MARKERS", "STYLE"]

STYLE = """
@media screen { :root { max-width: 100%; height: auto; } }
text { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2933; }
.title { font-size: 19px; font-weight: 600; }
.task { font-weight: 600; }
.small { font-size: 11.5px; fill: #52606d; }
.paper { fill: #ffffff; }
.box { fill: #f1f4f8; stroke: #52606d; stroke-width: 1.4; }
.queue { fill: #ffffff; stroke: #8794a3; stroke-width: 1.2; }
.pool { fill: #fff6da; stroke: #b7791f; stroke-width: 1.4; }
.link { fill: none; stroke: #52606d; stroke-width: 1.6; }
.uses { fill: none; stroke: #b7791f; stroke-width: 1.3; stroke-dasharray: 2 4; }
.holds { stroke-width: 3; stroke-dasharray: none; }
.slot { fill: #ffffff; stroke: #52606d; stroke-width: 1.2; }
.full { fill: #52606d; stroke: #ffffff; stroke-width: 1.2; }
.wanted { fill: #cf1124; stroke: #ffffff; stroke-width: 1.2; }
.hand { fill: #ffffff; stroke: #52606d; stroke-width: 1.4; }
tspan.holds { fill: #147d64; }
.violated { fill: #cf1124; }
.unknown { fill: #b7791f; }
.blocked { stroke: #cf1124; stroke-width: 2.4; }
.wait { fill: none; stroke: #cf1124; stroke-width: 2.4; }
.red { fill: #cf1124; }
.end { fill: #52606d; }
.towards { fill: #cf1124; }
@media (prefers-color-scheme: dark) {
text { fill: #e6ebf0; }
.small { fill: #a9b5c2; }
.paper { fill: #14191f; }
.box { fill: #1f2730; stroke: #a9b5c2; }
.queue { fill: #14191f; stroke: #718093; }
.pool { fill: #2b2517; stroke: #d9a441; }
.link { stroke: #a9b5c2; }
.uses { stroke: #d9a441; }
.slot, .hand { fill: #14191f; stroke: #a9b5c2; }
.full { fill: #a9b5c2; stroke: #14191f; }
.wanted { fill: #ff6b6b; stroke: #14191f; }
tspan.holds { fill: #5fd3ad; }
.violated, .red { fill: #ff8f8f; }
.unknown { fill: #f0bd62; }
.blocked { stroke: #ff6b6b; }
.wait { stroke: #ff6b6b; }
.end { fill: #a9b5c2; }
.towards { fill: #ff6b6b; }
}
"""

MARKERS = (
    '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
    'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
    '<path class="end" d="M0,0 L10,5 L0,10 z"/></marker>'
    '<marker id="wait" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11" '
    'markerUnits="userSpaceOnUse" orient="auto"><path class="towards" d="M0,0 L10,5 L0,10 z"/>'
    "</marker></defs>"
)
