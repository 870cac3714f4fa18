"""Where the mass can sit: shapes, meshes and points, and the density prior that they give."""
